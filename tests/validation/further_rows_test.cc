#include <gtest/gtest.h>

#include <filesystem>

#include "tests/source_dir.h"
#include "tools/warpfold/run/launch_rows.h"

namespace warpfold::validation {
namespace {

// Rows whose errors no test holds: each is something that can be simulated.
TEST(PublishedRows, OfBlackwellOtherGpusAndTheKitAreAllMapped) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  for (const char* folder : {"blackwell", "other", "silicon"}) {
    size_t rows = 0;
    for (const auto& entry : std::filesystem::directory_iterator(WARPFOLD_SOURCE_DIR "/tests/validation/" + std::string(folder))) {
      const auto read = read_measured_rows(entry.path().string());
      ASSERT_TRUE(read) << read.error().text();
      for (const MeasuredRow& row : *read) {
        const auto mapped = cli::map_row_or_launch(row, mapper, WARPFOLD_SOURCE_DIR "/configs/kernels/operators");
        EXPECT_TRUE(mapped) << row.file() << ":" << row.line() << ": " << mapped.error().reason;
        ++rows;
      }
    }
    EXPECT_GE(rows, 90) << folder;
  }
}

}  // namespace
}  // namespace warpfold::validation
