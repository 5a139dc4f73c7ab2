#include "tests/support/watched_sm.h"

#include <stdexcept>

#include "sim/sm/make_spec.h"

namespace warpfold::test {
namespace {

sim::Spec spec_of(const Scenario& scenario) {
  auto spec = sim::make_spec(scenario.gpu);
  if (!spec) throw std::logic_error(spec.error().text());
  return *spec;
}

// Returns the CTAs whose index in the grid is a multiple of the number of SMs.
sim::CtaList ctas_of_first_sm(const sim::Launch& launch, uint32_t sm_count) {
  const uint32_t sms = launch.sms.count > 0 ? launch.sms.count : sm_count;
  sim::CtaList list;
  uint64_t index = 0;
  for (const traces::CtaRun& run : launch.kernel->grid) {
    sim::append(list, run.cta_class, (index + run.count + sms - 1) / sms - (index + sms - 1) / sms);
    index += run.count;
  }
  return list;
}

}  // namespace

WatchedSm::WatchedSm(const Scenario& scenario) : spec_(spec_of(scenario)) {
  for (const sim::Launch& launch : scenario.launches) {
    auto image = sim::make_image(spec_, *launch.kernel);
    if (!image) throw std::logic_error(image.error().text());
    images_.push_back(std::move(*image));
  }
  for (size_t l = 0; l < images_.size(); ++l) {
    const sim::Launch& launch = scenario.launches[l];
    launches_.push_back({launch, &images_[l], ctas_of_first_sm(launch, spec_.memory.sm_count), static_cast<int>(l), launch.priority,
                         images_[l].ctas_per_sm});
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
