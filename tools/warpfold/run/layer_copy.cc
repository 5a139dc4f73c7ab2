#include "tools/warpfold/run/layer_copy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "configs/launch_sizes.h"
#include "configs/load.h"
#include "tools/warpfold/run/layer_simulation.h"

namespace warpfold::cli {

namespace {

constexpr double kChunkBytes = 65536;  // moved by a CTA of all_reduce.cu at a time
// assumed: long enough that the two runs differ by 24 chunks of the steady state.
constexpr std::array<uint64_t, 2> kChunks{12, 36};
// assumed: the smallest number of flag reads, and a number whose time is visible beside a chunk's.
constexpr std::array<uint64_t, 2> kPolls{1, 9};
// Length of a copy beside a kernel, over the kernel's time alone. assumed: more than a copy slows any kernel. A longer copy changes
// nothing, since only the kernel's end counts.
constexpr double kLonger = 1.5;

constexpr const char* kCopy = "all_reduce";

}  // namespace

Outcome<void> CopyRuns::check() const {
  if (!wanted()) return {};
  const auto copy = copy_kernel(kChunks[0], kPolls[0]);
  return copy ? Outcome<void>{} : std::unexpected(copy.error());
}

Outcome<configs::Kernel> CopyRuns::copy_kernel(uint64_t chunks, uint64_t polls) const {
  const auto row = std::ranges::find_if(request_.listings.kernel(), [](const configs::OperatorKernel& each) {
    return each.operator__size() == 1 && each.operator_(0) == kCopy;
  });
  if (row == request_.listings.kernel().end())
    return user_error("copy_ctas: the table of listings (--kernels) has no row for " + std::string(kCopy));
  const uint64_t ctas = request_.model.copy_ctas();
  const std::string bytes = std::to_string(ctas * chunks * static_cast<uint64_t>(kChunkBytes));
  std::vector<std::string> settings{"grid.x=" + std::to_string(ctas), "parameter.chunks.value=" + std::to_string(chunks),
                                    "parameter.polls.value=" + std::to_string(polls)};
  for (const char* array : {"own", "received", "sent"}) settings.push_back("array." + std::string(array) + ".bytes=" + bytes);
  auto launch = configs::load_kernel_launch(row->launch(), settings);
  if (!launch) return std::unexpected(Failure(launch.error()));
  configs::settle_architecture(*launch, request_.gpu);
  configs::Kernel made;
  made.set_name("copy");
  made.set_stream(1);
  made.set_priority(1);  // as NCCL's kernels, which have the highest priority; as in docs/validation/pairs.md
  const auto folder = std::filesystem::path(row->launch()).parent_path();
  made.mutable_listing()->set_path(row->has_listing() ? row->listing() : (folder / launch->listing()).lexically_normal().string());
  *made.mutable_listing()->mutable_description() = std::move(*launch);
  return made;
}

// Measures two lengths, whose difference does not contain the fixed cost of a launch.
Outcome<double> CopyRuns::chunk_us(uint64_t polls) {
  std::array<double, 2> us{};
  for (size_t i = 0; i < us.size(); ++i) {
    const auto copy = copy_kernel(kChunks[i], polls);
    if (!copy) return std::unexpected(copy.error());
    const auto run = simulate_launch(*copy, request_);
    if (!run) return std::unexpected(run.error());
    if (!run->reason_not_simulated.empty())
      return user_error("copy_ctas: the copy kernel cannot run on this GPU: " + run->reason_not_simulated);
    us[i] = run->us;
    ++simulations_;
  }
  return (us[1] - us[0]) / static_cast<double>(kChunks[1] - kChunks[0]);
}

// Finds the number of flag reads by interpolation: the time of a chunk grows linearly with that number.
Outcome<CopyRuns::Pace> CopyRuns::pace_of(double link_gb_per_s) {
  const auto least = chunk_us(kPolls[0]);
  const auto more = chunk_us(kPolls[1]);
  if (!least) return std::unexpected(least.error());
  if (!more) return std::unexpected(more.error());
  const double bytes = kChunkBytes * static_cast<double>(request_.model.copy_ctas());
  const double wanted = bytes / (link_gb_per_s * 1e3);
  const double of_poll = (*more - *least) / static_cast<double>(kPolls[1] - kPolls[0]);
  const double further = of_poll > 0 ? std::max(0.0, std::round((wanted - *least) / of_poll)) : 0;
  return Pace{.polls = kPolls[0] + static_cast<uint64_t>(further),
              .chunk_us = *least + further * of_poll,
              .most_gb_per_s = bytes / (*least * 1e3)};
}

// Simulates the kernels of a launch one after the other, each beside a copy that outlasts it.
Outcome<double> CopyRuns::slowdown(const std::vector<configs::Kernel>& workloads, double launch_us, const Pace& pace) {
  double beside = 0;
  for (const configs::Kernel& workload : workloads) {
    double us = launch_us;
    if (workloads.size() > 1) {
      const auto undisturbed = simulate_launch(workload, request_);
      if (!undisturbed) return std::unexpected(undisturbed.error());
      us = undisturbed->us;
    }
    const auto chunks = static_cast<uint64_t>(std::ceil(kLonger * us / pace.chunk_us)) + 2;
    const auto copy = copy_kernel(chunks, pace.polls);
    if (!copy) return std::unexpected(copy.error());
    configs::Scenario both;
    both.mutable_policy()->set_kind(configs::CONCURRENT);
    *both.add_kernel() = workload;
    both.mutable_kernel(0)->set_name("kernel");
    *both.add_kernel() = *copy;
    const auto run = simulate_scenario(std::move(both), request_);
    if (!run) return std::unexpected(run.error());
    ++simulations_;
    if (!run->front().reason_not_simulated.empty()) return user_error("copy_ctas: " + run->front().reason_not_simulated);
    beside += run->front().us;
  }
  return std::max(1.0, beside / launch_us);
}

Outcome<CopyKernel> CopyRuns::copy_of(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                      const configs::LayerVersion& version,
                                      const std::vector<std::vector<configs::Kernel>>& workloads) {
  CopyKernel copy;
  if (!wanted()) return copy;
  const configs::LayerOverlap undisturbed = layer_overlap(request_.model, graph, kernels, version, copy);
  for (const bool data : {false, true}) {
    const auto mine = [data](const configs::LayerTransfer& each) { return each.data_parallel() == data; };
    if (std::ranges::none_of(undisturbed.transfers(), mine)) continue;
    const auto pace = pace_of(data ? request_.model.data_link_gb_per_s() : request_.model.link_gb_per_s());
    if (!pace) return std::unexpected(pace.error());
    CopyKernel::OfLink& of_link = copy.links[data ? 1 : 0];
    of_link.gb_per_s = pace->most_gb_per_s;
    of_link.slowdown.assign(static_cast<size_t>(version.kernels_size()), 1);
    std::set<int> beside;
    for (const configs::LayerTransfer& each : undisturbed.transfers()) {
      if (mine(each)) beside.insert(each.beside_kernels().begin(), each.beside_kernels().end());
    }
    for (int k = 0; k < version.kernels_size(); ++k) {
      const std::vector<configs::Kernel>& of = workloads[static_cast<size_t>(k)];
      if (of.empty() || !beside.contains(k)) continue;
      std::string key = std::to_string(pace->polls);
      for (const configs::Kernel& each : of) key += each.SerializeAsString();
      if (!known_.contains(key)) {
        const auto times = slowdown(of, version.kernels(k).time_us(), *pace);
        if (!times) return std::unexpected(times.error());
        known_[key] = *times;
      }
      of_link.slowdown[static_cast<size_t>(k)] = known_[key];
    }
  }
  return copy;
}

Outcome<configs::LayerOverlap> CopyRuns::overlap(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                                 const configs::LayerVersion& version,
                                                 const std::vector<std::vector<configs::Kernel>>& workloads) {
  const auto copy = copy_of(graph, kernels, version, workloads);
  if (!copy) return std::unexpected(copy.error());
  return layer_overlap(request_.model, graph, kernels, version, *copy);
}

}  // namespace warpfold::cli
