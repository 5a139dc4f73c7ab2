// Replay speed: warp instructions a second of one core, full model with accounting on.
//
//   items_per_second     warp instructions replayed a second
//   host_cycles          time-stamp-counter cycles a replayed instruction (x86-64)
//   sm_cycles            simulated SM cycles a second
//
// Each benchmark runs on four SMs (one cluster of the GEMM) with their share of the memory system's rates. All four receive the
// same CTAs, so that one representative SM is replayed: only the machine is timed.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "configs/load.h"
#include "sim/gpu/simulate.h"
#include "workloads/workloads.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace warpfold {
namespace {

template <typename T>
T must(Expected<T> value) {
  if (value) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.error().text().c_str());
  std::exit(2);
}

uint64_t host_cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

struct Run {
  configs::Gpu gpu;
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;
};

constexpr uint32_t kSms = 4;

// A repository scenario on a slice of the chip.
Run slice(const std::string& scenario, const std::vector<std::string>& settings) {
  const std::string path = std::string(WARPFOLD_SOURCE_DIR "/configs/scenarios/") + scenario;
  configs::Scenario loaded = must(configs::load_scenario(path, settings));
  Run run;
  run.gpu = loaded.gpu();
  const double share = kSms / static_cast<double>(run.gpu.sm_count());
  run.gpu.set_sm_count(kSms);
  run.gpu.mutable_l2()->set_read_bytes_per_clk(run.gpu.l2().read_bytes_per_clk() * share);
  run.gpu.mutable_l2()->set_write_bytes_per_clk(run.gpu.l2().write_bytes_per_clk() * share);
  run.gpu.mutable_dram()->set_bandwidth_gb_per_s(run.gpu.dram().bandwidth_gb_per_s() * share);
  run.kernels.reserve(static_cast<size_t>(loaded.kernel_size()));
  for (const configs::Kernel& kernel : loaded.kernel()) {
    run.kernels.push_back(must(workloads::make_kernel(kernel, run.gpu, path)));
    sim::Launch launch;
    launch.kernel = &run.kernels.back();
    launch.stream = static_cast<int>(kernel.stream());
    run.launches.push_back(launch);
  }
  return run;
}

void replay(benchmark::State& state, const Run& run) {
  uint64_t instructions = 0;
  uint64_t cycles = 0;
  const uint64_t started = host_cycles();
  for (auto _ : state) {
    const sim::Outcome outcome = must(sim::simulate(run.gpu, run.launches, {.fold = {.mode = sim::FoldMode::kOff}}));
    if (outcome.deadlocked) {
      state.SkipWithError("deadlock");
      return;
    }
    for (const sim::KernelCounters& kernel : outcome.kernels) instructions += kernel.instructions / kSms * outcome.sm_classes;
    cycles += outcome.total_cycles;
  }
  const auto host = static_cast<double>(host_cycles() - started);
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
  state.counters["sm_cycles"] = benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
  state.counters["host_cycles"] = host / static_cast<double>(instructions);
}

// Philox-7 at full occupancy: bound by ALU with 8 and 16 bits an element, by FMA heavy with 32.
void BM_Philox(benchmark::State& state) {
  replay(state, slice("philox_h100.textproto", {"bits=" + std::to_string(state.range(0)), "seq=2048", "kernel.rng.philox.heads=4",
                                                "kernel.rng.philox.calls_per_thread=0", "kernel.rng.philox.ctas_per_sm=16"}));
}
BENCHMARK(BM_Philox)->Arg(8)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

// The FP8 GEMM alone: few instructions, long waits.
void BM_Gemm(benchmark::State& state) {
  Run run = slice("qkv_philox_llama3_70b.textproto", {"seq=1024", "embedding=1024"});
  run.launches.resize(1);
  replay(state, run);
}
BENCHMARK(BM_Gemm)->Unit(benchmark::kMillisecond);

// The pair: one Philox CTA of 128 threads in the room that the GEMM leaves on each SM.
void BM_GemmPhilox(benchmark::State& state) {
  replay(state, slice("qkv_philox_llama3_70b.textproto", {"seq=1024", "embedding=1024"}));
}
BENCHMARK(BM_GemmPhilox)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpfold

BENCHMARK_MAIN();
