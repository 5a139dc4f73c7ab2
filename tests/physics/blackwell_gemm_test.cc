#include <gtest/gtest.h>

#include "configs/load.h"
#include "sim/gpu/simulate.h"
#include "tests/source_dir.h"
#include "traces/trace_file.h"
#include "workloads/workloads.h"

namespace warpfold {
namespace {

double cycles_of(const traces::Kernel& kernel, const configs::Gpu& gpu) {
  sim::Launch launch;
  launch.kernel = &kernel;
  return static_cast<double>(sim::simulate(gpu, {launch}, {}).value().total_cycles);
}

// The generated kernel has the roles, the tile and the stages of the one written by hand.
TEST(BlackwellGemm, TakesTheTimeOfTheKernelWrittenByHandSmall) {
  const std::string configs = std::string(WARPFOLD_SOURCE_DIR) + "/configs/";
  const configs::Gpu gpu = configs::load_gpu(configs + "gpus/b200.textproto").value();
  const auto by_hand = traces::read_trace(configs + "kernels/blackwell_gemm.wfs");
  ASSERT_TRUE(by_hand) << by_hand.error().text();
  configs::Kernel kernel;
  kernel.set_name("gemm");
  kernel.mutable_blackwell_gemm()->set_m(8192);
  kernel.mutable_blackwell_gemm()->set_n(8192);
  kernel.mutable_blackwell_gemm()->set_k(8192);
  kernel.mutable_blackwell_gemm()->set_type(configs::BF16);
  const auto generated = workloads::make_kernel(kernel, gpu, "");
  ASSERT_TRUE(generated) << generated.error().text();
  EXPECT_NEAR(cycles_of(*generated, gpu) / cycles_of(by_hand->front(), gpu), 1, 0.01);
}

}  // namespace
}  // namespace warpfold
