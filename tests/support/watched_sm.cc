#include "tests/support/watched_sm.h"

#include <stdexcept>

#include "sim/gpu/distribution.h"
#include "sim/sm/make_spec.h"

namespace warpfold::test {
namespace {

sim::Spec spec_of(const Scenario& scenario) {
  auto spec = sim::make_spec(scenario.gpu);
  if (!spec) throw std::logic_error(spec.error().text());
  return *spec;
}

}  // namespace

WatchedSm::WatchedSm(const Scenario& scenario) : spec_(spec_of(scenario)) {
  for (const sim::Launch& launch : scenario.launches) {
    auto image = sim::make_image(spec_, *launch.kernel);
    if (!image) throw std::logic_error(image.error().text());
    images_.push_back(std::move(*image));
  }
  const sim::SmClass sm_class = sim::sm_classes(sim::deal(scenario.launches, spec_.memory.sm_count)).front();
  for (size_t l = 0; l < images_.size(); ++l) {
    const sim::Launch& launch = scenario.launches[l];
    launches_.push_back({launch, &images_[l], sm_class.ctas[l], static_cast<int>(l), launch.priority, images_[l].ctas_per_sm});
  }
}

sim::Sm WatchedSm::start() const {
  sim::Sm sm(spec_, launches_);
  for (size_t l = 0; l < images_.size(); ++l) sm.release_launch(static_cast<int>(l), 0);
  return sm;
}

void run_watched(const Scenario& scenario, sim::SmObserver& observer) {
  const WatchedSm watched(scenario);
  sim::Sm sm = watched.start();
  sm.observe_with(observer);
  while (sm.run(sim::kNever) != sim::kNever) {
  }
}

}  // namespace warpfold::test
