// A random scenario by its seed (the input's first eight bytes): folded, replayed and on all SMs the same. libFuzzer's entry.

#include <cstring>

#include "tests/fuzz/input.h"
#include "tests/fuzz/replays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  uint64_t seed = 0;
  std::memcpy(&seed, data, std::min(size, sizeof seed));
  const auto any = rc::gen::exec([] {
    auto scenario = std::make_shared<test::Scenario>(test::one_in(3) ? test::any_scenario() : test::any_recurring_scenario());
    test::bound_machine(*scenario);
    return std::shared_ptr<const test::Scenario>(std::move(scenario));
  });
  fuzz::require_same_replays(*any(rc::Random(seed), 100).value());
  return 0;
}
