#include "workloads/common/warm_l2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels.h"
#include "workloads/elementwise/elementwise.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {
namespace {

constexpr uint64_t kArray = 1 << 24;  // bytes

// Reads two arrays, writes one.
traces::Kernel triad() {
  configs::Elementwise work;
  work.set_operation(configs::TRIAD);
  work.set_elements(kArray / 4);
  work.set_element_bytes(4);
  return make_elementwise(work, gpu("h100_sxm")).value();
}

std::vector<double> from_dram(const traces::Kernel& kernel) {
  std::vector<double> shares;
  for (const traces::MemoryStream& stream : kernel.streams)
    shares.push_back(static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator));
  return shares;
}

TEST(WarmL2, ServesAllInputsThatFit) {
  traces::Kernel kernel = triad();
  EXPECT_THAT(from_dram(kernel), testing::ElementsAre(1, 1, 1));
  warm_l2(kernel, 2 * kArray);
  EXPECT_THAT(from_dram(kernel), testing::ElementsAre(0, 0, 1)) << "the last one is written";
}

TEST(WarmL2, ServesTheShareThatFitsOfEveryInput) {
  traces::Kernel kernel = triad();
  warm_l2(kernel, kArray / 2);
  EXPECT_THAT(from_dram(kernel), testing::ElementsAre(0.75, 0.75, 1));
  warm_l2(kernel, 0);
  EXPECT_THAT(from_dram(kernel), testing::ElementsAre(0.75, 0.75, 1));
}

// As many of the bytes that come from DRAM, whatever a GEMM's tiles ask of L2 besides, by multicast or again.
TEST(WarmL2, CountsWhatComesFromDram) {
  configs::Kernel description;
  description.set_name("g");
  configs::HopperGemm& gemm = *description.mutable_hopper_gemm();
  for (const auto set : {&configs::HopperGemm::set_m, &configs::HopperGemm::set_n, &configs::HopperGemm::set_k}) (gemm.*set)(2048);
  gemm.set_type(configs::BF16);
  configs::Gpu h100 = gpu("h100_sxm");
  const traces::Kernel cold = make_kernel(description, h100, "s").value();
  description.set_l2(configs::WARM);
  const traces::Kernel warm = make_kernel(description, h100, "s").value();
  const auto dram = [](const traces::Kernel& kernel) {
    const auto bytes = bytes_by_stream(kernel);
    return from_dram(kernel)[0] * static_cast<double>(bytes.at("A")) + from_dram(kernel)[1] * static_cast<double>(bytes.at("B"));
  };
  EXPECT_NEAR(dram(cold), 2.0 * 2 * 2048 * 2048, 1e5);  // A and B once
  EXPECT_EQ(dram(warm), 0);
  EXPECT_EQ(KernelMaker("s").make(description, h100).value(), warm);
}

}  // namespace
}  // namespace warpfold::workloads
