// A line is an axis as --axis takes it, a condition as --where does, or a measure of a front: values, a truth, a number, or a
// message. libFuzzer's entry.

#include "configs/axis_values.h"
#include "configs/expression.h"
#include "configs/study_of_scenario.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  const configs::Words words{[](std::string_view name) -> std::optional<configs::Word> {
                               if (name == "gpu") return std::string("h100_sxm");
                               if (name == "none") return std::nullopt;
                               return static_cast<double>(name.size());
                             },
                             {"gpu", "heads"}};
  const auto lines = fuzz::lines_of(fuzz::text_of(data, size));
  for (const std::string& line : lines) {
    if (const auto values = configs::axis_values(line); !values) fuzz::require_message(values.error());
    if (const auto axis = configs::axis_of(line); !axis) fuzz::require_message(axis.error());
    if (const auto truth = configs::holds(line, words); !truth) fuzz::require_message(truth.error());
    if (const auto number = configs::number_of(line, words); !number) fuzz::require_message(number.error());
  }
  if (lines.size() < 2) return 0;
  const auto study = configs::study_of_scenario("qkv_philox_small", {lines[0]}, {lines[1]}, {configs::SEQUENTIAL});
  if (!study) fuzz::require_message(study.error());
  return 0;
}
