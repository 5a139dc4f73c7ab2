#include "tools/silicon/csv_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/source_dir.h"
#include "tools/validation/map_row.h"

namespace silicon {
namespace {

TEST(CsvWriter, QuotesWhatWouldEndACell) {
  EXPECT_EQ(CsvWriter::field("plain"), "plain");
  EXPECT_EQ(CsvWriter::field("a, \"b\""), "\"a, \"\"b\"\"\"");
  EXPECT_EQ(CsvWriter::field("# 1"), "\"# 1\"");  // at a line's start it would be a comment
}

TEST(CsvWriter, WritesSixDigitsWithoutExponents) {
  EXPECT_EQ(CsvWriter::number(1.5), "1.50000");
  EXPECT_EQ(CsvWriter::number(12345678), "12345678");
  EXPECT_EQ(CsvWriter::number(123.4567891), "123.457");
  EXPECT_EQ(CsvWriter::number(0.00012345), "0.000123450");
  EXPECT_EQ(CsvWriter::number(0), "0.00000");
}

// validate reads the kit's output: a GEMM of its own, with the clock measured beside it.
TEST(CsvWriter, WritesWhatValidateReads) {
  std::ostringstream out;
  CsvWriter writer(out, "NVIDIA H100 80GB HBM3", "silicon kit, 2026-11-21");
  Measurement gemm;
  gemm.id = "K1";
  gemm.category = "GEMM";
  gemm.kernel = "GEMM";
  gemm.impl = "silicon kit, wgmma";
  gemm.dtype = "bf16";
  gemm.m = gemm.n = gemm.k = "8192";
  gemm.metric = "median time";
  gemm.value = 1512.25;
  gemm.unit = "us";
  gemm.set = "tile_m=128 tile_n=128 cluster_m=1 persistent=false";
  gemm.clock_mhz = 1754.6;
  gemm.power_w = 655.5;
  gemm.notes = "first, \"cold\" run left out";
  writer.write(gemm);
  const auto file = std::filesystem::path(testing::TempDir()) / "warpfold_kit.csv";
  std::ofstream(file) << out.str();
  const auto rows = warpfold::validation::read_measured_rows(file.string());
  std::filesystem::remove(file);
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 1);
  EXPECT_EQ(rows->front().text("notes"), gemm.notes);
  EXPECT_EQ(rows->front().text("temperature_c"), "");
  const auto mapped = warpfold::validation::RowMapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {}).map(rows->front());
  ASSERT_TRUE(mapped) << mapped.error().reason;
  EXPECT_DOUBLE_EQ(mapped->measured, 1512.25);
  EXPECT_EQ(mapped->runs.front().scenario.gpu().clock_mhz(), 1755);
  EXPECT_EQ(mapped->runs.front().scenario.kernel(0).hopper_gemm().tile_n(), 128);
}

}  // namespace
}  // namespace silicon
