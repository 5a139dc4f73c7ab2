// The log of validate --resume as it lies in the folder: a record is accepted or not, and a row is made of it. An input that begins
// with a line "=" gets its key and its checksum here. libFuzzer's entry.

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/fuzz/input.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/store/point_log.h"

namespace {

using namespace warpfold;

const std::string kKey = "6018f346e30a3b1b";

void require_finite(const configs::Validation& validation) {
  for (const auto& row : validation.rows()) {
    fuzz::require(std::isfinite(row.simulated()) && std::isfinite(row.error()) && std::isfinite(row.simulated_rate()) &&
                      std::isfinite(row.limiter_utilization()) && std::isfinite(row.tensor_utilization()),
                  "a row that is no number");
  }
  for (const auto& group : validation.groups()) {
    fuzz::require(std::isfinite(group.mean()) && std::isfinite(group.p90()) && std::isfinite(group.bias()),
                  "a group that is no number");
  }
}

void make_rows(const configs::SimulatedPoint& point, bool alone) {
  using validation::Quantity;
  const std::array<std::string, 3> names{"", "a", "b"};
  configs::Validation rows;
  const validation::MeasuredRow measured("rows.csv", 2, {});
  for (const Quantity quantity : {Quantity::kTime, Quantity::kTimeRatio, Quantity::kWatts, Quantity::kClock, Quantity::kSlowdown}) {
    if (quantity == Quantity::kSlowdown && !alone) continue;
    for (const std::string& of : names) {
      if (quantity == Quantity::kSlowdown && of.empty()) continue;  // a row of one names its kernel
      validation::Comparison comparison;
      comparison.family = "GEMM";
      comparison.quantity = quantity;
      comparison.measured = 2;
      comparison.runs.resize(2);
      comparison.of = of;
      if (quantity == Quantity::kSlowdown && of == names[1]) comparison.beside = names[2];
      comparison.work = 1e9;
      comparison.rate_unit = "TFLOPS";
      if (!cli::unknown_kernel(comparison, point).empty()) continue;
      const configs::ValidatedRow row = cli::validated_row(measured, comparison, {&point, &point});
      if (cli::why_no_figure(row).empty()) *rows.add_rows() = row;
    }
  }
  cli::add_error_groups(rows);
  require_finite(rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::Scratch scratch;
  std::string text = fuzz::text_of(data, size);
  if (text.starts_with("=\n")) {
    std::ranges::replace(text, '\n', ' ');
    const std::string line = kKey + " 0 " + text.substr(2);
    text = cli::content_hash(line).append(" ").append(line).append("\n");
  }
  std::filesystem::remove_all(scratch.path("records"));
  std::filesystem::create_directory(scratch.path("records"));
  scratch.write("records/other.points", text);
  cli::PointLog log(scratch.path("records"));
  fuzz::require(log.open().has_value(), "the folder of records is there");
  configs::SimulatedPoint point;
  if (!log.find(kKey, point)) return 0;
  for (const bool alone : {false, true}) {
    if (cli::holds_together(point, alone)) make_rows(point, alone);
  }
  if (!cli::holds_together(point, false)) return 0;
  // A saved record is found again.
  fuzz::require(log.append(kKey, 0, point).has_value(), "a record is written");
  configs::SimulatedPoint again;
  fuzz::require(log.find(kKey, again) && cli::to_json(again) == cli::to_json(point), "a record does not come back");
  return 0;
}
