#include <gtest/gtest.h>

#include "support.h"

// Philox from the listing of configs/kernels/philox.cu against the workload's, 16 calls a thread of 16 heads of 2,048 x 2,048 bits.

namespace warpfold::sass {
namespace {

traces::Kernel imported_philox() {
  return import_files("configs/kernels/philox_sm_80.sass", "configs/kernels/philox.textproto").value().kernel;
}

traces::Kernel generated_philox() {
  return generated(
      "philox { heads: 16 queries: 2048 keys: 2048 rounds: 7 threshold_bits: 8 threads_per_cta: 128 calls_per_thread: 16 }");
}

// Counts the passes of a warp in the first class of CTAs: the last loop of its role and, if the importer peels passes, the peeled
// passes.
std::map<std::string, uint64_t> counts_in_loops(const traces::Kernel& kernel) {
  std::map<std::string, uint64_t> counts;
  for (const traces::Node& node : kernel.roles.at(0).body) {
    if (!std::holds_alternative<traces::Loop>(node)) continue;
    for (const auto& [name, count] : counts_of({node}, kernel.cta_classes.at(0))) counts[name] += count;
  }
  return counts;
}

TEST(ImportedPhilox, HasTheInstructionsOfTheWorkload) {
  const traces::Kernel imported = imported_philox();
  const traces::Kernel generated = generated_philox();
  EXPECT_EQ(imported.ctas(), generated.ctas());
  EXPECT_EQ(counts_in_loops(imported), counts_in_loops(generated));
}

// Outside its loops the compiled code has 0.9 % more instructions.
TEST(ImportedPhilox, TakesAsLongAnInstructionAsTheWorkload) {
  const auto an_instruction = [](const traces::Kernel& kernel) {
    return time_of(kernel, a100()) / static_cast<double>(traces::issued_instructions(kernel));
  };
  EXPECT_NEAR(an_instruction(imported_philox()) / an_instruction(generated_philox()), 1, 0.005);
}

TEST(ImportedPhilox, BesideAGemmHasTheSlowdownsOfTheWorkload) {
  const traces::Kernel gemm = generated("ampere_gemm { m: 4096 n: 4096 k: 2048 }");
  const auto slowdowns = [&gemm](const traces::Kernel& philox) {
    const sim::Outcome pair = simulated({&gemm, &philox}, a100());
    const auto cycles = [&pair](size_t kernel) {
      return static_cast<double>(pair.kernels[kernel].end_cycle - pair.kernels[kernel].start_cycle);
    };
    return std::pair{cycles(0) / time_of(gemm, a100()), cycles(1) / time_of(philox, a100())};
  };
  const auto imported = slowdowns(imported_philox());
  const auto generated = slowdowns(generated_philox());
  EXPECT_GT(generated.second, 1.2);  // they contend
  EXPECT_NEAR(imported.first / generated.first, 1, 0.01);
  EXPECT_NEAR(imported.second / generated.second, 1, 0.01);
}

}  // namespace
}  // namespace warpfold::sass
