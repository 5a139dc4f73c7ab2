#include <gmock/gmock.h>

#include <filesystem>

#include "rows.h"
#include "tools/warpfold/run/launch_rows.h"

// Launches of profiles beside the kernels of a communication library.

namespace warpfold::validation {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const char* const kFolder = WARPFOLD_SOURCE_DIR "/configs/kernels/operators";

class BesideRows : public Rows {
 protected:
  Mapped<Comparison> mapped(const std::string& beside, const std::string& name = "cuda::batched_transpose<512, 128, 1, 1>") const {
    const auto rows = read("id,category,gpu,impl,dims_other,value,unit,notes\nB1,CORUN,H800 (132 SM),\"" + name +
                           "\",grid=3584x1x1;block=512x1x1;regs=32;smem=16896,46,us,\"n=3;" + beside + "\"\n");
    if (!rows) throw std::logic_error(rows.error().text());
    return cli::map_row_or_launch(rows->front(), mapper_, kFolder);
  }
  std::string reason(const std::string& beside) const {
    const auto row = mapped(beside);
    return row ? "mapped" : row.error().reason;
  }

 private:
  mutable RowMapper mapper_{WARPFOLD_SOURCE_DIR "/configs/gpus", {}};
};

const std::string kCombine = "beside dpsk::ep::internode::combine<false, 8> grid=20x1x1 block=800x1x1";

TEST_F(BesideRows, ASlowdownIsJudgedIfTheTimeAloneIsStated) {
  const auto row = mapped(kCombine + ";alone_median=40(n=1)");
  ASSERT_TRUE(row) << row.error().reason;
  EXPECT_EQ(row->family, "kernel of a profile beside communication");
  EXPECT_EQ(row->quantity, Quantity::kTimeRatio);
  EXPECT_DOUBLE_EQ(row->measured, 46.0 / 40);
  EXPECT_EQ(row->of, "kernel");
  ASSERT_EQ(row->runs.size(), 2);
  EXPECT_EQ(row->runs[0].scenario.kernel_size(), 2);
  EXPECT_EQ(row->runs[0].scenario.policy().kind(), configs::CONCURRENT);
  EXPECT_EQ(row->runs[1].scenario.kernel_size(), 1);
  EXPECT_THAT(row->unfollowed, IsEmpty());
}

TEST_F(BesideRows, WithoutItTheTimeIsJudged) {
  const auto row = mapped(kCombine);
  ASSERT_TRUE(row) << row.error().reason;
  EXPECT_EQ(row->quantity, Quantity::kTime);
  EXPECT_DOUBLE_EQ(row->measured, 46);
  ASSERT_EQ(row->runs.size(), 1);
  EXPECT_EQ(row->runs[0].scenario.kernel_size(), 2);
}

TEST_F(BesideRows, AKernelThatMovesDataIsACopy) {
  const auto row = mapped(kCombine);
  ASSERT_TRUE(row);
  const configs::Kernel& copy = row->runs[0].scenario.kernel(1);
  EXPECT_EQ(copy.name(), "communication");
  EXPECT_GT(copy.priority(), row->runs[0].scenario.kernel(0).priority());
  EXPECT_THAT(copy.listing().path(), HasSubstr("all_reduce_sm_80.sass"));
  const configs::KernelLaunch& launch = copy.listing().description();
  EXPECT_EQ(launch.grid().x(), 20);
  EXPECT_EQ(launch.block().x(), 800);
  EXPECT_EQ(launch.registers(), 72);
  // Twice the kernel's 46 us at 10.4 us a chunk, and two chunks.
  EXPECT_EQ(launch.parameter(4).name(), "chunks");
  EXPECT_EQ(launch.parameter(4).value(), 11);
}

TEST_F(BesideRows, AKernelThatWaitsHoldsItsRoom) {
  const auto row = mapped("beside dpsk::ep::internode::cached_notify<false> grid=20x1x1 block=320x1x1");
  ASSERT_TRUE(row);
  const configs::Kernel& waits = row->runs[0].scenario.kernel(1);
  EXPECT_EQ(waits.opaque().demand(), configs::LATENCY);
  EXPECT_EQ(waits.opaque().ctas(), 20);
  EXPECT_EQ(waits.opaque().threads_per_cta(), 320);
  EXPECT_EQ(waits.footprint().registers_per_thread(), 56);
}

TEST_F(BesideRows, OtherNeighboursAreRefused) {
  EXPECT_EQ(reason("beside my_kernel grid=20x1x1"), "the kernel beside it is no known communication: my_kernel");
  EXPECT_EQ(reason("beside ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem) grid=3x1x1"),
            "the kernel beside it is no known communication: ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)");
  EXPECT_EQ(reason("beside volta_sgemm_128x32_nt grid=38x4x1"),
            "the kernel beside it is no communication with a CTA an SM at most: volta_sgemm_128x32_nt");
  EXPECT_EQ(reason("beside ncclKernel_AllReduce"), "notes: expected beside NAME grid=CTAs, not \"ncclKernel_AllReduce\"");
}

TEST_F(BesideRows, AnUnknownKernelHasItsReason) {
  const auto row = mapped(kCombine, "void cuda::expand_to_fused_with_scales_impl(int)");
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().reason, "copy of a tensor: sizes are not recorded");
}

struct Counted {
  size_t rows = 0;
  size_t mapped = 0;
};
Counted counted(const std::string& file) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  Counted count;
  const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/co_run/" + file);
  if (!rows) throw std::logic_error(rows.error().text());
  for (const MeasuredRow& row : *rows) {
    const auto made = cli::map_row_or_launch(row, mapper, kFolder);
    ++count.rows;
    if (made) {
      ++count.mapped;
    } else {
      EXPECT_FALSE(made.error().reason.empty()) << row.id();
    }
  }
  return count;
}

// All rows as their sources print them (docs/validation/co_run.md); a row that is not mapped has a reason.
TEST(CoRunRows, AreMappedOrRefused) {
  const Counted deepseek = counted("deepseek_h800.csv");
  EXPECT_EQ(deepseek.rows, 153);
  EXPECT_EQ(deepseek.mapped, 106);
  const Counted hta = counted("hta.csv");
  EXPECT_EQ(hta.rows, 145);
  EXPECT_EQ(hta.mapped, 145);
}

}  // namespace
}  // namespace warpfold::validation
