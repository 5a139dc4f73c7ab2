// A study: the points of its grid, or one diagnostic. libFuzzer's entry.

#include "configs/load.h"
#include "tests/fuzz/input.h"
#include "tools/warpfold/figures/study_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  const std::string file = scratch.write("study.textproto", fuzz::text_of(data, size));
  configs::Places places;
  const auto study = configs::load_study(file, &places);
  if (!study) return fuzz::require_message(study.error()), 0;
  size_t points = 1;
  for (const configs::Axis& axis : study->axis()) points *= static_cast<size_t>(std::max(1, axis.value_size()));
  constexpr size_t kMostPoints = 2000;  // a study may ask for more, and wait
  if (points > kMostPoints) return 0;
  for (const cli::Point& point : cli::grid_of(*study)) {
    fuzz::require(point.size() == static_cast<size_t>(study->axis_size()), "a point without a value for each axis");
    (void)cli::placed_values(*study, point);
    (void)cli::point_name(*study, point);
  }
  for (const configs::Figure& figure : study->figure()) (void)cli::points_of(*study, figure);
  return 0;
}
