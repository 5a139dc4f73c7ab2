// A CSV file of measurements: rows, each a simulation, a reason why not or a mistake, or one diagnostic. libFuzzer's entry.

#include "tests/fuzz/input.h"
#include "tests/source_dir.h"
#include "tools/validation/map_row.h"
#include "tools/validation/measured_row.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  static validation::RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  const auto rows = validation::read_measured_rows(scratch.write("rows.csv", fuzz::text_of(data, size)));
  if (!rows) return fuzz::require_message(rows.error()), 0;
  for (const validation::MeasuredRow& row : *rows) {
    const auto mapped = mapper.map(row);
    if (mapped) {
      fuzz::require(mapped->measured > 0 && !mapped->runs.empty(), "a row without a measured value or a run");
    } else if (mapped.error().mistake) {
      fuzz::require_message(*mapped.error().mistake);
    } else {
      fuzz::require(!mapped.error().reason.empty(), "a row that is left out without a reason");
    }
  }
  return 0;
}
