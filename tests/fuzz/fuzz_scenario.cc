// A scenario, its base and settings of the command line: a resolved scenario, or one diagnostic. libFuzzer's entry.

#include "configs/load.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  const auto parts = fuzz::parts_of(fuzz::text_of(data, size), 3);
  const std::string file = scratch.write("scenario.textproto", parts[0]);
  scratch.write("base.textproto", parts[1]);
  configs::Places places;
  const auto scenario = configs::load_scenario(file, fuzz::lines_of(parts[2]), &places);
  if (!scenario) return fuzz::require_message(scenario.error()), 0;
  fuzz::require(configs::check_scenario(*scenario, file).has_value(), "a scenario that was loaded does not hold");
  return 0;
}
