// Export and import again is the identity: of files byte by byte, of kernels within the contents of a trace.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "configs/load.h"
#include "tests/accelsim/trace_text.h"
#include "tests/support/machine.h"
#include "traces/accelsim/exporter.h"
#include "traces/stats.h"
#include "workloads/workloads.h"

namespace warpfold::test {
namespace {

using traces::Kernel;

std::string exported(const Kernel& kernel, const traces::accelsim::ExportOptions& options = {}) {
  std::string text;
  const auto done = traces::accelsim::export_kernel(kernel, options, [&](std::string_view piece) { text += piece; });
  if (!done) throw std::logic_error(done.error().text());
  return text;
}

// Returns the instructions that each warp of each CTA issues, in order; DEPBAR keeps its own name.
std::vector<std::vector<std::string>> issued(const Kernel& kernel) {
  std::vector<std::vector<std::string>> warps;
  for (const traces::CtaRun& run : kernel.grid) {
    for (uint64_t cta = 0; cta < run.count; ++cta) {
      for (const traces::Role& role : kernel.roles) {
        warps.insert(warps.end(), role.warps, opcodes_of(kernel, role, kernel.cta_classes[run.cta_class]));
      }
    }
  }
  return warps;
}

void expect_identity(const Kernel& kernel) {
  const std::string text = exported(kernel);
  const Kernel again = imported(text);
  EXPECT_EQ(issued(again), issued(kernel));
  EXPECT_EQ(again.streams, kernel.streams);
  EXPECT_EQ(again.registers_per_thread, kernel.registers_per_thread);
  EXPECT_EQ(again.shared_memory_bytes, kernel.shared_memory_bytes);
  const traces::KernelStatistics before = traces::statistics(kernel);
  const traces::KernelStatistics after = traces::statistics(again);
  EXPECT_EQ(after.bytes_read, before.bytes_read);
  EXPECT_EQ(after.bytes_written, before.bytes_written);
  EXPECT_EQ(exported(again), text);
}

configs::Kernel described(const std::string& text) {
  configs::Kernel kernel;
  const auto parsed = configs::parse_text("kernel", text, kernel);
  if (!parsed) throw std::logic_error(parsed.error().text());
  return kernel;
}

Kernel generated(const std::string& text, const std::string& gpu) {
  auto kernel = workloads::make_kernel(described(text), one_sm(gpu), "kernel");
  if (!kernel) throw std::logic_error(kernel.error().text());
  return *kernel;
}

constexpr const char* kPhilox =
    "name: \"rng\" philox { heads: 2 queries: 64 keys: 96 rounds: 7 threshold_bits: 8 calls_per_thread: 4 threads_per_cta: 64 }";

TEST(Export, PhiloxIsTheSameAgain) {
  expect_identity(generated(kPhilox, "a100_sxm"));
  expect_identity(generated(kPhilox, "h100_sxm"));
}

TEST(Export, ElementwiseIsTheSameAgain) {
  expect_identity(generated(
      "name: \"e\" elementwise { operation: TRIAD elements: 8192 element_bytes: 4 access_bytes: 16 threads_per_cta: 128 }",
      "h100_sxm"));
}

TEST(Export, AmpereGemmIsTheSameAgain) {
  expect_identity(generated("name: \"g\" ampere_gemm { m: 256 n: 256 k: 128 }", "a100_sxm"));
}

TEST(Export, HopperKernelsAreRefused) {
  const Kernel kernel = generated("name: \"g\" hopper_gemm { m: 256 n: 256 k: 128 cluster_m: 1 cluster_n: 1 }", "h100_sxm");
  std::string text;
  const auto done = traces::accelsim::export_kernel(kernel, {}, [&](std::string_view piece) { text += piece; });
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("cannot be exported"), std::string::npos);
}

TEST(Export, ChosenCtas) {
  const Kernel kernel = generated(kPhilox, "a100_sxm");
  const Kernel some = imported(exported(kernel, {.first_cta = 1, .ctas = 2}));
  EXPECT_EQ(some.ctas(), 2);
  std::string text;
  const traces::accelsim::ExportOptions beyond{.first_cta = 1'000'000};
  EXPECT_FALSE(traces::accelsim::export_kernel(kernel, beyond, [&](std::string_view piece) { text += piece; }));
}

// Loops in loops, classes, warps of several roles, memory of several streams.
Kernel any_kernel() {
  const auto between = [](int least, int most) { return *rc::gen::inRange(least, most + 1); };
  const auto line = [&]() -> std::string {
    switch (between(0, 7)) {
      case 0:
        return op("LDG.E.128 R4, [R2.64]", {}, "bytes=512 stream=0");
      case 1:
        return op("LDG.E R4, [R2.64]", {}, text({"bytes=", std::to_string(32 * between(1, 32)), " stream=0"}));
      case 2:
        return op("STG.E.64 [R2.64], R6", {}, "bytes=256 stream=1");
      case 3:
        return op("LDS.64 R8, [R10]", {}, text({"wavefronts=", std::to_string(between(2, 32))}));
      case 4:
        return op("@!PT LDG.E R4, [R2.64]");
      case 5:
        return op("LDG.E R4, [R2.64]");  // in L1
      case 6:
        return op("ISETP.GE.AND P0, PT, R1, 0x10, PT");
      default:
        return op("IMAD R12, R13, 0x80, R14");
    }
  };
  const auto lines = [&] {
    Lines code;
    for (int n = between(1, 4); n > 0; --n) code.push_back(line());
    return code;
  };
  KernelText kernel("k", "sm_80");
  kernel.options("registers=40").declare("stream in read dram=1/3").declare("stream out write dram=1/1");
  const std::string first = std::to_string(between(2, 5));
  const std::string second = std::to_string(between(2, 5));
  kernel.classes(text({"parameter t\nclass a t=", first, "\nclass b t=", second, "\ngrid a*2 b*1 a*1\n"}));
  for (int role = between(1, 3); role > 0; --role) {
    Lines body =
        join(lines(), loop("t", join(lines(), loop(static_cast<uint64_t>(between(2, 6)), join(lines(), {op("BRA `(.L)")})))));
    kernel.role(text({"r", std::to_string(role)}), static_cast<uint32_t>(between(1, 2)), join(body, lines()));
  }
  return kernel.kernel();
}

RC_GTEST_PROP(Export, AnyKernelIsTheSameAgain, ()) {
  const Kernel kernel = any_kernel();
  const std::string text = exported(kernel);
  const Kernel again = imported(text);
  RC_ASSERT(issued(again) == issued(kernel));
  RC_ASSERT(again.streams == kernel.streams);
  RC_ASSERT(traces::statistics(again).bytes_read == traces::statistics(kernel).bytes_read);
  RC_ASSERT(traces::statistics(again).bytes_written == traces::statistics(kernel).bytes_written);
  RC_ASSERT(exported(again) == text);
}

// Without the lines that say the shares of synthetic addresses, the addresses say them.
TEST(Export, AddressesOfAStreamOfNewDataComeFromDram) {
  std::string text = exported(generated(kPhilox, "a100_sxm"));
  for (size_t at = text.find("#warpfold"); at != std::string::npos; at = text.find("#warpfold"))
    text.erase(at, text.find('\n', at) - at + 1);
  const Kernel kernel = imported(text);
  ASSERT_EQ(kernel.streams.size(), 1);
  EXPECT_TRUE(kernel.streams[0].write);
  EXPECT_EQ(kernel.streams[0].dram_numerator, kernel.streams[0].dram_denominator);
}

}  // namespace
}  // namespace warpfold::test
