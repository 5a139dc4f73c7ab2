#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/elementwise/elementwise.h"

namespace warpfold::workloads {
namespace {

configs::Elementwise stream(configs::ElementwiseOperation operation, uint32_t element_bytes, uint32_t access_bytes) {
  configs::Elementwise elementwise;
  elementwise.set_operation(operation);
  elementwise.set_elements(1 << 20);
  elementwise.set_element_bytes(element_bytes);
  elementwise.set_access_bytes(access_bytes);
  return elementwise;
}

TEST(Elementwise, MovesEveryArrayOnce) {
  for (const uint32_t access : {8U, 16U}) {
    const traces::Kernel triad = make_elementwise(stream(configs::TRIAD, 8, access), gpu("h100_sxm")).value();
    const auto bytes = bytes_by_stream(triad);
    EXPECT_EQ(bytes.at("in"), 8U << 20);
    EXPECT_EQ(bytes.at("in2"), 8U << 20);
    EXPECT_EQ(bytes.at("out"), 8U << 20);
    EXPECT_EQ(triad.ctas(), (1U << 20) / 256 / (access / 8));
    EXPECT_EQ(issued(triad, "DFMA"), (1U << 20) / 32);
    EXPECT_EQ(triad.flops, 2U << 20);
    for (const traces::MemoryStream& each : triad.streams) EXPECT_EQ(each.dram_numerator, each.dram_denominator);
  }
  EXPECT_EQ(bytes_by_stream(make_elementwise(stream(configs::COPY, 4, 16), gpu("a100_sxm")).value()).size(), 2U);
}

TEST(Elementwise, ComputesWhatItSays) {
  const auto count = [](configs::ElementwiseOperation operation, uint32_t bytes, const std::string& mnemonic) {
    return issued(make_elementwise(stream(operation, bytes, 16), gpu("a100_sxm")).value(), mnemonic);
  };
  constexpr uint64_t kWarps = (1U << 20) / 32;  // of scalars
  EXPECT_EQ(count(configs::SCALE, 4, "FMUL"), kWarps);
  EXPECT_EQ(count(configs::ADD, 4, "FADD"), kWarps);
  EXPECT_EQ(count(configs::TRIAD, 2, "HFMA2"), kWarps / 2);
  EXPECT_EQ(count(configs::ADD, 8, "DADD"), kWarps);
  EXPECT_EQ(count(configs::COPY, 4, "FADD"), 0U);
  EXPECT_EQ(count(configs::NARROW, 4, "F2FP"), kWarps / 2);
}

TEST(Elementwise, StoresHalfTheBytesOfNarrowedFloats) {
  for (const uint32_t access : {8U, 16U}) {
    const traces::Kernel narrow = make_elementwise(stream(configs::NARROW, 4, access), gpu("h100_sxm")).value();
    EXPECT_EQ(bytes_by_stream(narrow).at("in"), 4U << 20);
    EXPECT_EQ(bytes_by_stream(narrow).at("out"), 2U << 20);
    EXPECT_EQ(narrow.streams.back().footprint, 2U << 20);
  }
}

TEST(Elementwise, FillsWithoutReading) {
  configs::Elementwise fill = stream(configs::FILL, 4, 16);
  fill.set_accesses_per_thread(4);
  const traces::Kernel kernel = make_elementwise(fill, gpu("h100_sxm")).value();
  ASSERT_EQ(kernel.streams.size(), 1U);
  EXPECT_TRUE(kernel.streams[0].write);
  EXPECT_EQ(kernel.streams[0].footprint, 4U << 20);
  EXPECT_EQ(bytes_by_stream(kernel).at("out"), 4U << 20);
  EXPECT_EQ(issued(kernel, "STG.E.128"), (1U << 20) / 32 / 4);
  EXPECT_EQ(issued(kernel, "LDG.E.128"), 0U);
  EXPECT_EQ(kernel.flops, 0U);
}

TEST(Elementwise, LoadsAllOfAThreadBeforeItStores) {
  configs::Elementwise elementwise = stream(configs::ADD, 4, 16);
  elementwise.set_accesses_per_thread(4);
  const traces::Kernel kernel = make_elementwise(elementwise, gpu("h100_sxm")).value();
  EXPECT_EQ(kernel.ctas(), (1U << 20) / 256 / 4 / 4);
  EXPECT_GE(kernel.registers_per_thread, 12U + 2 * 4 * 4);
  EXPECT_EQ(bytes_by_stream(kernel).at("out"), 4U << 20);
}

}  // namespace
}  // namespace warpfold::workloads
