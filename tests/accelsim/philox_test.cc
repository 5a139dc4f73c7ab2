// A kernel of ours that went through a trace runs as long as before, alone and beside another one.

#include <gtest/gtest.h>

#include "configs/load.h"
#include "tests/accelsim/trace_text.h"
#include "tests/support/machine.h"
#include "traces/accelsim/exporter.h"
#include "traces/trace_file.h"
#include "workloads/workloads.h"

namespace warpfold::test {
namespace {

using traces::Kernel;

Kernel generated(const std::string& text, const configs::Gpu& gpu) {
  configs::Kernel description;
  if (const auto parsed = configs::parse_text("kernel", text, description); !parsed) throw std::logic_error(parsed.error().text());
  auto kernel = workloads::make_kernel(description, gpu, "kernel");
  if (!kernel) throw std::logic_error(kernel.error().text());
  return *kernel;
}

std::string exported(const Kernel& kernel) {
  std::string text;
  const auto done = traces::accelsim::export_kernel(kernel, {}, [&](std::string_view piece) { text += piece; });
  if (!done) throw std::logic_error(done.error().text());
  return text;
}

// Lines that say the shares of synthetic addresses: without them the addresses are analysed, as those of any other trace.
std::string without_notes(std::string text) {
  for (size_t at = text.find("#warpfold"); at != std::string::npos; at = text.find("#warpfold"))
    text.erase(at, text.find('\n', at) - at + 1);
  return text;
}

constexpr const char* kPhilox =
    "name: \"rng\" philox { heads: 16 queries: 256 keys: 256 rounds: 7 threshold_bits: 32 threads_per_cta: 128 calls_per_thread: "
    "64 }";

TEST(ImportedPhilox, IsRolledToAPartInAThousandAndRunsAsLong) {
  configs::Gpu gpu = one_sm("h100_sxm");
  const Kernel kernel = generated(kPhilox, gpu);
  const std::string text = exported(kernel);
  for (const std::string& trace : {text, without_notes(text)}) {
    const Kernel again = imported(trace);
    EXPECT_EQ(traces::issued_instructions(again), traces::issued_instructions(kernel));
    EXPECT_LT(traces::format_kernels({again}).size() * 100, text.size());
    const auto cycles = static_cast<double>(replay(gpu, kernel).outcome.total_cycles);
    EXPECT_NEAR(static_cast<double>(replay(gpu, again).outcome.total_cycles), cycles, 0.01 * cycles);
  }
}

TEST(ImportedPhilox, SlowsTheGemmAsTheGeneratedOneDoes) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const Kernel gemm = generated(
      "name: \"gemm\" hopper_gemm { m: 256 n: 512 k: 1024 cluster_m: 1 cluster_n: 1 type: BF16 tile_m: 128 tile_n: 128 "
      "registers_per_thread: 128 }",
      gpu);
  const Kernel kernel = generated(kPhilox, gpu);
  const Kernel again = imported(exported(kernel));
  const auto pair = [&](const Kernel& rng) { return replay_together(gpu, {gemm, rng}).outcome; };
  const sim::Outcome before = pair(kernel);
  const sim::Outcome after = pair(again);
  for (size_t k = 0; k < 2; ++k) {
    const auto cycles = static_cast<double>(before.kernels[k].end_cycle - before.kernels[k].start_cycle);
    EXPECT_NEAR(static_cast<double>(after.kernels[k].end_cycle - after.kernels[k].start_cycle), cycles, 0.01 * cycles);
  }
}

}  // namespace
}  // namespace warpfold::test
