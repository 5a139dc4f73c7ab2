#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {
namespace {

struct TimeUnit {
  std::string_view name;
  double us;
};
constexpr std::array kTimeUnits{TimeUnit{"s", 1e6}, TimeUnit{"ms", 1e3}, TimeUnit{"us", 1}, TimeUnit{"ns", 1e-3}};

}  // namespace

Mapped<configs::ElementType> element_type_of(const MeasuredRow& row) {
  // The type of the operands: "bf16" of "bf16->f32 out".
  const std::string text = row.text("dtype").substr(0, row.text("dtype").find("->"));
  if (text.starts_with("fp8") || text == "mxfp8") return configs::FP8;
  if (text == "nvfp4" || text == "mxfp4") return configs::FP4;
  if (text == "bf16" || text == "bfloat16" || text.starts_with("bf16/fp16")) return configs::BF16;
  if (text == "fp16" || text == "float16") return configs::FP16;
  return not_mapped("no generator for type " + escape::quoted(row.text("dtype")));
}

Mapped<uint64_t> count_of(const MeasuredRow& row, const std::string& column) {
  if (const auto count = row.count(column)) return *count;
  if (row.text(column).empty()) return not_mapped(column + " is not stated");
  return not_mapped(column + " is not a whole number: " + escape::quoted(row.text(column)));
}

Mapped<double> measured_us(const MeasuredRow& row, const RowWork& work, double clock_mhz) {
  if (const auto ms = row.number("time_ms")) return *ms * 1e3;
  const auto value = row.number("value");
  if (!value) return not_mapped("no value");
  const std::string& unit = row.text("unit");
  const auto time = std::ranges::find(kTimeUnits, unit, &TimeUnit::name);
  if (time != kTimeUnits.end()) return *value * time->us;
  if (unit == "cycles") return *value / clock_mhz;
  if (unit == "clk" && work.counted > 0) return *value * work.counted / clock_mhz;
  if (work.work > 0 && unit == work.rate_unit) return work.work / (*value * (unit == "TFLOPS" ? 1e6 : 1e3));
  return not_mapped("a figure in " + escape::quoted(unit) + " says nothing of this row's time");
}

Mapped<Comparison> measured_power(const MeasuredRow& row, Comparison comparison) {
  const std::string& unit = row.text("unit");
  if (unit != "W" && unit != "MHz")
    return not_mapped("a figure in " + escape::quoted(unit) + " is neither board power nor a clock");
  const auto value = row.number("value");
  if (!value) return not_mapped("no value");
  if (comparison.runs.size() != 1) return not_mapped("power of several kernels");
  comparison.family = unit == "W" ? "board power" : "sustained clock";
  comparison.kernel = row.text("kernel");
  comparison.quantity = unit == "W" ? Quantity::kWatts : Quantity::kClock;
  comparison.measured = *value;
  return comparison;
}

}  // namespace warpfold::validation
