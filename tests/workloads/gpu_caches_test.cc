// L1 is the part of an SM's data memory that the carve-out for its CTAs leaves.
#include "workloads/common/gpu_caches.h"

#include <gtest/gtest.h>

#include "configs/load.h"
#include "tests/source_dir.h"

namespace warpfold::test {
namespace {

configs::Gpu gpu(const std::string& name) {
  return configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + name + ".textproto").value();
}

TEST(L1, IsWhatTheCarveOutLeaves) {
  const configs::Gpu h100 = gpu("h100_sxm");
  EXPECT_EQ(workloads::l1_beside(h100, 0), 256U << 10);
  EXPECT_EQ(workloads::l1_beside(h100, 9 << 10), (256U - 16) << 10);
  EXPECT_EQ(workloads::l1_beside(h100, 228 << 10), 28U << 10);
  EXPECT_EQ(workloads::l1_beside(gpu("v100_16gb"), 0), 128U << 10);
  EXPECT_EQ(workloads::l1_beside(gpu("rubin_announced"), 300 << 10), 28U << 10);
}

TEST(L1, FollowsTheGpusDataMemory) {
  configs::Gpu wide = gpu("h100_sxm");
  wide.mutable_sm()->set_data_memory_bytes(512 << 10);
  EXPECT_EQ(workloads::l1_beside(wide, 100 << 10), (512U - 100) << 10);
}

}  // namespace
}  // namespace warpfold::test
