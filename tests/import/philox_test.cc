#include <gtest/gtest.h>

#include "support.h"
#include "workloads/workloads.h"

// Philox from the listing of configs/kernels/philox.cu against the workload's, 16 calls a thread of 16 heads of 2,048 x 2,048 bits.

namespace warpfold::sass {
namespace {

traces::Kernel imported_philox() {
  return import_files("configs/kernels/philox_sm_80.sass", "configs/kernels/philox.textproto").value().kernel;
}

configs::Gpu a100() { return configs::load_gpu(data_file("configs/gpus/a100_sxm.textproto")).value(); }

traces::Kernel generated_philox() {
  configs::Kernel described;
  described.set_name("rng");
  configs::Philox& philox = *described.mutable_philox();
  philox.set_heads(16);
  philox.set_queries(2048);
  philox.set_keys(2048);
  philox.set_rounds(7);
  philox.set_threshold_bits(8);
  philox.set_threads_per_cta(128);
  philox.set_calls_per_thread(16);
  return workloads::make_kernel(described, a100(), "").value();
}

traces::Kernel generated_gemm() {
  configs::Kernel described;
  described.set_name("gemm");
  configs::AmpereGemm& gemm = *described.mutable_ampere_gemm();
  gemm.set_m(4096);
  gemm.set_n(4096);
  gemm.set_k(2048);
  return workloads::make_kernel(described, a100(), "").value();
}

// Of the passes of a warp in the first class of CTAs: the last loop of its role and, where the importer peels passes, what is
// beside.
std::map<std::string, uint64_t> counts_in_loops(const traces::Kernel& kernel) {
  std::map<std::string, uint64_t> counts;
  for (const traces::Node& node : kernel.roles.at(0).body) {
    if (!std::holds_alternative<traces::Loop>(node)) continue;
    for (const auto& [name, count] : counts_of({node}, kernel.cta_classes.at(0))) counts[name] += count;
  }
  return counts;
}

double alone(const traces::Kernel& kernel) { return static_cast<double>(simulated({&kernel}, a100()).kernels[0].end_cycle); }

TEST(ImportedPhilox, HasTheInstructionsOfTheWorkload) {
  const traces::Kernel imported = imported_philox();
  const traces::Kernel generated = generated_philox();
  EXPECT_EQ(imported.ctas(), generated.ctas());
  EXPECT_EQ(counts_in_loops(imported), counts_in_loops(generated));
}

TEST(ImportedPhilox, TakesAsLongAsTheWorkload) { EXPECT_NEAR(alone(imported_philox()) / alone(generated_philox()), 1, 0.01); }

TEST(ImportedPhilox, BesideAGemmHasTheSlowdownsOfTheWorkload) {
  const traces::Kernel gemm = generated_gemm();
  const auto slowdowns = [&gemm](const traces::Kernel& philox) {
    const sim::Outcome pair = simulated({&gemm, &philox}, a100());
    const auto cycles = [&pair](size_t kernel) {
      return static_cast<double>(pair.kernels[kernel].end_cycle - pair.kernels[kernel].start_cycle);
    };
    return std::pair{cycles(0) / alone(gemm), cycles(1) / alone(philox)};
  };
  const auto imported = slowdowns(imported_philox());
  const auto generated = slowdowns(generated_philox());
  EXPECT_GT(generated.second, 1.2);  // they contend
  EXPECT_NEAR(imported.first / generated.first, 1, 0.01);
  EXPECT_NEAR(imported.second / generated.second, 1, 0.01);
}

}  // namespace
}  // namespace warpfold::sass
