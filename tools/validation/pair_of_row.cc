#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "configs/escape/quoted.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A count that a phrase states; empty if it is not stated, or not a whole number from 1 on.
std::optional<uint64_t> counted(const std::optional<double>& fact) {
  if (!fact || *fact < 1 || *fact > 1e15 || *fact != std::floor(*fact)) return std::nullopt;
  return static_cast<uint64_t>(*fact);
}

void add_pointer(configs::KernelLaunch& launch, const std::string& name, uint64_t bytes) {
  configs::KernelArray& array = *launch.add_array();
  array.set_name(name);
  array.set_bytes(bytes);
  launch.add_parameter()->set_array(name);
}

void add_value(configs::KernelLaunch& launch, const std::string& name, uint64_t value, uint32_t bytes) {
  configs::KernelParameter& parameter = *launch.add_parameter();
  parameter.set_name(name);
  parameter.set_value(static_cast<int64_t>(value));
  parameter.set_bytes(bytes);
}

configs::Kernel listing(const std::string& name, uint32_t stream, const std::string& path, configs::KernelLaunch launch) {
  configs::Kernel kernel;
  kernel.set_name(name);
  kernel.set_stream(stream);
  kernel.mutable_listing()->set_path("../kernels/" + path);
  *kernel.mutable_listing()->mutable_description() = std::move(launch);
  return kernel;
}

// Adds the runs that the row's figure asks for: the first kernel alone, all kernels one after the other, or all together.
Mapped<void> add_runs(RowPair& pair, const std::string& figure, const std::vector<configs::Kernel>& kernels,
                      const configs::Policy& together) {
  const auto run = [&pair](const configs::Kernel& kernel) { *pair.runs.emplace_back().add_kernel() = kernel; };
  if (has(figure, "alone")) {
    run(kernels.front());
  } else if (has(figure, "sequential") || has(figure, "serial")) {
    std::ranges::for_each(kernels, run);
  } else if (has(figure, "co-located") || has(figure, "until both finish")) {
    configs::Scenario& both = pair.runs.emplace_back();
    for (const configs::Kernel& kernel : kernels) *both.add_kernel() = kernel;
    *both.mutable_policy() = together;
  } else {
    return not_mapped(escape::quoted(figure) + " is not a time alone, one after the other or together");
  }
  return {};
}

// Clock in MHz of the suite's V100, which the suite does not state. fitted: X0101, with 640.0 million cycles in 461.4 ms. Its four
// chains of FP64 multiplications a warp, and both kernels at once, fill the pipe. A V100 supports this clock.
constexpr double kVoltaClock = 1387;

// Two kernels of multiplications, with one CTA of each on every SM, from the suite of ETH's systems group
// (eth-easl/gpu-util-interference). Trips: run_pipeline_experiment.sh of wangpeiwen/gpu-util-interference@1f09e82 for V100, and
// section 4.2.3 of the report on the suite's reproduction on an RTX 5090.
Mapped<RowPair> fp64_pair(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto chains = counted(row.facts().chains);
  const auto ctas = counted(row.facts().grid_x);
  const auto threads = counted(row.facts().block_x);
  if (!chains || *chains > 4 || !ctas || !threads) return not_mapped("dims_other: expected CTAs, threads and ILP");
  const bool volta = gpu.architecture() == "sm_70";
  configs::KernelLaunch launch;
  launch.set_function("multiply_fp64_" + std::to_string(*chains));
  launch.set_architecture(volta ? "sm_70" : "sm_89");
  if (!volta && gpu.architecture() != "sm_89") launch.set_runs_on(gpu.architecture());
  launch.mutable_grid()->set_x(static_cast<uint32_t>(*ctas));
  launch.mutable_block()->set_x(static_cast<uint32_t>(*threads));
  add_pointer(launch, "factors", *threads * 8);
  add_pointer(launch, "products", *threads * 8);
  add_value(launch, "trips", volta ? 20'000'000 : 2'000'000, 8);
  const std::string path = volta ? "one_resource_sm_70.sass" : "one_resource_sm_89.sass";
  RowPair pair{.kernel = "FP64 pipe", .shape = row.text("dims_other"), .runs = {}, .clock_mhz = 0, .follows = {"grid", "block"}};
  if (volta) pair.clock_mhz = kVoltaClock;
  configs::Policy policy;
  policy.set_kind(configs::CONCURRENT);
  const auto added = add_runs(pair, row.text("metric"), {listing("a", 0, path, launch), listing("b", 1, path, launch)}, policy);
  if (!added) return std::unexpected(added.error());
  return pair;
}

// Two kernels whose CTAs each copy a region again and again, with one CTA of each kernel on every SM, from the same suite. 15000
// trips, and regions as large as an SM's data memory, 128 KB: intra_sm/l1_cache of eth-easl/gpu-util-interference@af1fa50.
Mapped<RowPair> l1_pair(const MeasuredRow& row, const configs::Gpu& gpu) {
  constexpr uint64_t kRegion = 128 * 1024;
  const auto footprint = counted(row.facts().copied_kb);
  const auto ctas = counted(row.facts().grid_x);
  const auto threads = counted(row.facts().block_x);
  if (!footprint || !ctas || !threads || *footprint * 1024 > kRegion)
    return not_mapped("dims_other: expected CTAs, threads and a footprint of up to 128 KB");
  const bool volta = gpu.architecture() == "sm_70";
  configs::KernelLaunch launch;
  launch.set_function("copy_by_cta");
  launch.set_architecture(volta ? "sm_70" : "sm_89");
  if (!volta && gpu.architecture() != "sm_89") launch.set_runs_on(gpu.architecture());
  launch.mutable_grid()->set_x(static_cast<uint32_t>(*ctas));
  launch.mutable_block()->set_x(static_cast<uint32_t>(*threads));
  for (const char* array : {"in", "out"}) add_pointer(launch, array, *ctas * kRegion);
  add_value(launch, "elements", *footprint * 256, 8);
  add_value(launch, "trips", 15000, 8);
  add_value(launch, "stride", kRegion / 4, 4);
  const std::string path = volta ? "one_resource_sm_70.sass" : "one_resource_sm_89.sass";
  RowPair pair{.kernel = "copies in L1", .shape = row.text("dims_other"), .runs = {}, .clock_mhz = 0, .follows = {"grid", "block"}};
  if (volta) pair.clock_mhz = kVoltaClock;
  configs::Policy policy;
  policy.set_kind(configs::CONCURRENT);
  const auto added = add_runs(pair, row.text("metric"), {listing("a", 0, path, launch), listing("b", 1, path, launch)}, policy);
  if (!added) return std::unexpected(added.error());
  return pair;
}

// An all-reduce of 64 MiB by four A100s at 1200 MHz, by its number of CTAs: its time alone in ms, and a number of polls of a peer's
// flag. With these polls, all_reduce.cu takes equally long here (to 4 %).
//
// fitted: X0251 and X0253 (8 and 32 CTAs), corun_power_facts A2 (16), and X0255, X0267, X0278 (1, 2 and 4, beside a GEMM that takes
// a fifth of the time at most). assumed: 64 as 32.
struct AllReduce {
  uint64_t ctas;
  double ms;
  uint64_t polls;
};
constexpr std::array kAllReduces{AllReduce{1, 7.127, 5},  AllReduce{2, 3.673, 5},   AllReduce{4, 1.977, 6},
                                 AllReduce{8, 1.066, 7},  AllReduce{16, 0.679, 10}, AllReduce{32, 0.583, 34},
                                 AllReduce{64, 0.583, 69}};

configs::Kernel all_reduce(const AllReduce& known) {
  constexpr uint64_t kBytes = 3 * (uint64_t{64} << 20) / 2;  // a ring of four moves 2 x 3/4 of the tensor
  constexpr uint64_t kChunk = 65536;                         // a CTA's step
  configs::KernelLaunch launch;
  launch.set_function("all_reduce");
  launch.set_architecture("sm_80");
  launch.mutable_grid()->set_x(static_cast<uint32_t>(known.ctas));
  launch.mutable_block()->set_x(544);
  launch.set_registers(96);  // assumed: NCCL's registers, so that no GEMM fits beside it
  for (const char* array : {"own", "received", "sent"}) add_pointer(launch, array, kBytes);
  add_pointer(launch, "flags", 65536);
  add_value(launch, "chunks", kBytes / kChunk / known.ctas, 4);
  add_value(launch, "polls", known.polls, 4);
  configs::Kernel kernel = listing("all_reduce", 1, "all_reduce_sm_80.sass", std::move(launch));
  kernel.set_priority(1);
  return kernel;
}

Mapped<RowPair> gemm_beside_all_reduce(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (!row.clock_mhz()) return not_mapped("dims_other: expected the clock");
  RowPair pair{.kernel = "GEMM beside all-reduce", .shape = {}, .runs = {}, .clock_mhz = 0, .follows = {}};
  std::vector<configs::Kernel> kernels;
  if (!row.text("M").empty()) {
    auto gemm = gemm_of_row(row, gpu);
    if (!gemm) return std::unexpected(gemm.error());
    pair.shape = gemm->shape;
    kernels = gemm->kernels;
    kernels.front().set_name("gemm");
  }
  configs::Policy policy;
  policy.set_kind(configs::CONCURRENT);
  if (const auto ctas = counted(row.facts().reduce_ctas)) {
    const auto* const known = std::ranges::find(kAllReduces, *ctas, &AllReduce::ctas);
    if (known == kAllReduces.end()) return not_mapped("an all-reduce of " + std::to_string(*ctas) + " CTAs was not measured alone");
    pair.shape += (pair.shape.empty() ? "" : " ") + std::to_string(*ctas) + " CTAs";
    kernels.push_back(all_reduce(*known));
  }
  if (kernels.empty()) return not_mapped("neither a GEMM nor the CTAs of an all-reduce are stated");
  const auto added = add_runs(pair, row.text("kernel") + " " + row.text("metric"), kernels, policy);
  if (!added) return std::unexpected(added.error());
  return pair;
}

}  // namespace

Mapped<RowPair> pair_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& kernel = row.text("kernel");
  if (has(kernel, "FP64") && has(kernel, "x2")) return fp64_pair(row, gpu);
  if (has(kernel, "L1: copy x2")) return l1_pair(row, gpu);
  if (has(kernel, "all-reduce") && gpu.architecture() == "sm_80") return gemm_beside_all_reduce(row, gpu);
  if (has(row.text("impl"), "HFuse trace")) return fused_of_row(row, gpu);
  return not_mapped("kernels beside each other need a scenario (column scenario)");
}

}  // namespace warpfold::validation
