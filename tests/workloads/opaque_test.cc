#include "workloads/opaque/opaque.h"

#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"

namespace warpfold::workloads {
namespace {

traces::Kernel stand_in(configs::OpaqueDemand demand, uint64_t amount, const std::string& on = "h100_sxm") {
  configs::Opaque opaque;
  opaque.set_demand(demand);
  opaque.set_ctas(100);
  opaque.set_threads_per_cta(128);
  opaque.set_amount(amount);
  return make_opaque(opaque, gpu(on)).value();
}

// Every amount is met to the last word and FMA, in whole rounds and a remainder.
TEST(Opaque, DoesAsMuchAsItStates) {
  for (const uint64_t amount : {1, 3, 4, 15, 16, 33, 1000}) {
    EXPECT_EQ(bytes_by_stream(stand_in(configs::DRAM, amount)).at("in"), 100 * 128 * 4 * amount);
    EXPECT_EQ(issued(stand_in(configs::ISSUE, amount), "FFMA"), 100 * 4 * amount);
    EXPECT_EQ(issued(stand_in(configs::LATENCY, amount), "LDG.E"), 100 * amount);
  }
}

TEST(Opaque, HoldsTheLaunchsWarps) {
  for (const configs::OpaqueDemand demand : {configs::LATENCY, configs::DRAM, configs::ISSUE}) {
    const traces::Kernel kernel = stand_in(demand, 10);
    EXPECT_EQ(kernel.warps_per_cta(), 4);
    EXPECT_EQ(kernel.ctas(), 100);
    EXPECT_EQ(kernel.assumed.size(), 1);
  }
  EXPECT_EQ(stand_in(configs::LATENCY, 10).roles.size(), 2);
  EXPECT_TRUE(stand_in(configs::LATENCY, 10).streams.empty());
}

TEST(Opaque, RunsOnEveryArchitecture) {
  for (const std::string on : {"v100_16gb", "a100_sxm", "rtx_4090", "b200"})
    EXPECT_EQ(issued(stand_in(configs::ISSUE, 40, on), "FFMA"), 4000 * 4) << on;
}

}  // namespace
}  // namespace warpfold::workloads
