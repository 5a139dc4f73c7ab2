#include <gtest/gtest.h>

#include <filesystem>

#include "configs/gpu_balance.h"
#include "configs/resources.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

TEST(GpuFiles, LoadAndContradictNothing) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(gpu_path("h100_sxm.textproto")).parent_path())) {
    const auto gpu = load_gpu(entry.path().string());
    ASSERT_TRUE(gpu) << gpu.error().text();
    const auto fault = find_imbalance(*gpu);
    EXPECT_FALSE(fault) << entry.path() << ": " << fault->message;
    ++files;
  }
  EXPECT_GE(files, 23);
}

// Twice of every rate and capacity that has a factor, and of L2's bytes; the tensor cores and all latencies stay.
TEST(GpuFiles, WideB200HasTwiceOfAllButTheTensorCores) {
  const Gpu b200 = load_gpu(gpu_path("b200.textproto")).value();
  Gpu wide = load_gpu(gpu_path("b200_wide.textproto")).value();
  for (const ScalableResource& resource : scalable_resources()) {
    if (resource.whole) continue;
    const bool widened = resource.kind != ResourceKind::kLatency && resource.name != "tensor";
    EXPECT_EQ(number_at(wide, resource.path), widened ? std::optional(2.0) : std::nullopt) << resource.name;
  }
  EXPECT_EQ(wide.l2().bytes(), 2 * b200.l2().bytes());
  EXPECT_EQ(wide.l2().dirty_bytes(), 2 * b200.l2().dirty_bytes());
  EXPECT_EQ(wide.sm_count(), b200.sm_count());
  EXPECT_EQ(wide.clock_mhz(), b200.clock_mhz());
  EXPECT_EQ(wide.sm().tcgen05().SerializeAsString(), b200.sm().tcgen05().SerializeAsString());
}

// Two columns a cycle need 80 B of operands; four 160, which shared memory's 128 cannot give.
TEST(GpuBalance, TensorCoresWantMoreThanSharedMemoryGives) {
  Gpu gpu = load_gpu(gpu_path("h100_sxm.textproto")).value();
  EXPECT_FALSE(find_imbalance(gpu));
  gpu.mutable_sm()->mutable_tensor()->set_wgmma_columns_per_clk(4);
  EXPECT_EQ(find_imbalance(gpu).value().message,
            "sm.tensor.wgmma_columns_per_clk: the tensor rate needs 160 B of operands a cycle at m64n256, shared memory gives 128 "
            "(sm.shared_memory.bytes_per_clk, scale)");
  gpu.mutable_sm()->mutable_shared_memory()->set_scale(2);
  EXPECT_FALSE(find_imbalance(gpu));
}

// By a pair of CTAs 64 B of operands a cycle at two columns: twice the rate takes all that shared memory gives, four times more.
TEST(GpuBalance, TensorCoresWithTensorMemoryWantMoreThanSharedMemoryGives) {
  Gpu gpu = load_gpu(gpu_path("b200.textproto")).value();
  gpu.mutable_sm()->mutable_tensor()->set_scale(2);
  EXPECT_FALSE(find_imbalance(gpu));
  gpu.mutable_sm()->mutable_tensor()->set_scale(4);
  EXPECT_EQ(
      find_imbalance(gpu).value().message,
      "sm.tensor.scale: the tensor rate needs 256 B of operands a cycle at M 256, N 256 by a pair of CTAs, shared memory gives "
      "128 (sm.shared_memory.bytes_per_clk, scale)");
  gpu.mutable_sm()->mutable_shared_memory()->set_scale(2);
  EXPECT_FALSE(find_imbalance(gpu));
}

TEST(GpuBalance, DramDeliversMoreThanSmsTake) {
  Gpu gpu = load_gpu(gpu_path("h100_sxm.textproto")).value();
  gpu.mutable_sm()->set_ingress_bytes_per_clk(8);
  EXPECT_EQ(find_imbalance(gpu).value().message,
            "sm.ingress_bytes_per_clk: the ports of all SMs take 1056 B a cycle, DRAM delivers 2094");
}

TEST(GpuBalance, OperandsOfFewBitsWantSharedMemoryToo) {
  Gpu gpu = load_gpu(gpu_path("rubin_announced.textproto")).value();
  EXPECT_FALSE(find_imbalance(gpu));
  gpu.mutable_sm()->mutable_tcgen05()->set_narrow_columns_per_clk(8);
  EXPECT_EQ(find_imbalance(gpu).value().message,
            "sm.tcgen05.narrow_columns_per_clk: the tensor rate needs 256 B of operands a cycle at M 256, N 256 by a pair of CTAs, "
            "shared memory gives 128 (sm.shared_memory.bytes_per_clk, scale)");
}

TEST(GpuBalance, DramDeliversMoreThanL2PassesOn) {
  Gpu gpu = load_gpu(gpu_path("h100_sxm.textproto")).value();
  gpu.mutable_l2()->set_read_bytes_per_clk(2000);
  EXPECT_EQ(find_imbalance(gpu).value().message,
            "dram.bandwidth_gb_per_s: DRAM delivers 2094 B a cycle, L2 passes on 2000 (l2.read_bytes_per_clk, scale)");
}

}  // namespace
}  // namespace warpfold::configs
