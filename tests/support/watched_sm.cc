#include "tests/support/watched_sm.h"

#include <stdexcept>

#include "sim/gpu/distribution.h"
#include "sim/sm/make_spec.h"

namespace warpfold::test {

void run_watched(const Scenario& scenario, sim::SmObserver& observer) {
  const auto spec = sim::make_spec(scenario.gpu);
  if (!spec) throw std::logic_error(spec.error().text());
  std::vector<const traces::Kernel*> kernels;
  std::vector<sim::KernelImage> images;
  for (const sim::Launch& launch : scenario.launches) {
    kernels.push_back(launch.kernel);
    auto image = sim::make_image(*spec, *launch.kernel);
    if (!image) throw std::logic_error(image.error().text());
    images.push_back(std::move(*image));
  }
  const sim::SmClass sm_class = sim::distribute(kernels, spec->memory.sm_count).front();
  std::vector<sim::SmLaunch> launches;
  for (size_t l = 0; l < images.size(); ++l) {
    const sim::Launch& launch = scenario.launches[l];
    launches.push_back({launch, &images[l], sm_class.ctas[l], static_cast<int>(l), launch.priority, images[l].ctas_per_sm});
  }
  sim::Sm sm(*spec, std::move(launches));
  sm.observe_with(observer);
  for (size_t l = 0; l < images.size(); ++l) sm.release_launch(static_cast<int>(l), 0);
  while (sm.run(sim::kNever) != sim::kNever) {
  }
}

}  // namespace warpfold::test
