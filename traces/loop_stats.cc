#include "traces/loop_stats.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace warpfold::traces {
namespace {

// Calls `visit(instruction, issued)` for each instruction of the body. `times[c]`: number of times that the warps of
// class c run the body.
void for_each_instruction(const Kernel& kernel, const std::vector<Node>& body, const std::vector<uint64_t>& times,
                          const std::function<void(const isa::Instruction&, uint64_t)>& visit) {
  const uint64_t issued = std::accumulate(times.begin(), times.end(), uint64_t{0});
  for (const Node& node : body) {
    if (const auto* block = std::get_if<Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) visit(instruction, issued);
      continue;
    }
    const Loop& loop = std::get<Loop>(node);
    std::vector<uint64_t> inside = times;
    for (size_t c = 0; c < inside.size(); ++c) inside[c] *= trips(loop.trips, kernel.cta_classes[c]);
    for_each_instruction(kernel, loop.body, inside, visit);
  }
}

std::vector<uint64_t> warps_of(const Kernel& kernel, const Role& role) {
  std::vector<uint64_t> warps = ctas_by_class(kernel);
  for (uint64_t& count : warps) count *= role.warps;
  return warps;
}

class LoopCounter {
 public:
  explicit LoopCounter(const Kernel& kernel) : kernel_(kernel) {}

  void count(const std::vector<Node>& body, const std::vector<uint64_t>& times, LoopStatistics statistics) {
    for_each_instruction(kernel_, body, times, [&](const isa::Instruction&, uint64_t issued) {
      ++statistics.in_text;
      statistics.issued += issued;
    });
    const std::string place = statistics.place;
    all_.push_back(std::move(statistics));
    uint64_t number = 0;
    for (const Node& node : body) {
      const auto* loop = std::get_if<Loop>(&node);
      if (loop == nullptr) continue;
      LoopStatistics inner{.place = place + (place.empty() ? "" : ".") + std::to_string(++number)};
      std::vector<uint64_t> inside = times;
      inner.least_trips = ~uint64_t{0};
      inner.most_trips = 0;
      for (size_t c = 0; c < inside.size(); ++c) {
        const uint64_t each = trips(loop->trips, kernel_.cta_classes[c]);
        inside[c] *= each;
        inner.least_trips = std::min(inner.least_trips, each);
        inner.most_trips = std::max(inner.most_trips, each);
      }
      count(loop->body, inside, std::move(inner));
    }
  }

  std::vector<LoopStatistics> take() { return std::move(all_); }

 private:
  const Kernel& kernel_;
  std::vector<LoopStatistics> all_;
};

uint64_t share(uint64_t amount, uint64_t numerator, uint64_t denominator) {
  return static_cast<uint64_t>(static_cast<double>(amount) * static_cast<double>(numerator) / static_cast<double>(denominator));
}

}  // namespace

std::vector<LoopStatistics> loop_statistics(const Kernel& kernel, const Role& role) {
  LoopCounter counter(kernel);
  counter.count(role.body, warps_of(kernel, role), {});
  return counter.take();
}

std::vector<StreamStatistics> stream_statistics(const Kernel& kernel) {
  std::vector<StreamStatistics> streams;
  for (const MemoryStream& stream : kernel.streams) streams.push_back({.name = stream.name, .write = stream.write});
  for (const Role& role : kernel.roles) {
    for_each_instruction(kernel, role.body, warps_of(kernel, role), [&](const isa::Instruction& instruction, uint64_t issued) {
      if (instruction.effect.stream < 0 || instruction.guard.never()) return;
      const auto number = static_cast<size_t>(instruction.effect.stream);
      const uint64_t hits = share(issued, kernel.streams[number].l1_numerator, kernel.streams[number].l1_denominator);
      streams[number].requests += issued;
      streams[number].l1_requests += hits;
      streams[number].bytes +=
          (issued - hits) * (moved_bytes(kernel.streams[number], instruction.effect.bytes) / instruction.effect.multicast);
    });
  }
  for (size_t s = 0; s < streams.size(); ++s) {
    streams[s].dram_bytes = share(streams[s].bytes, kernel.streams[s].dram_numerator, kernel.streams[s].dram_denominator);
  }
  return streams;
}

std::vector<std::pair<std::string, uint64_t>> issued_by_mnemonic(const Kernel& kernel) {
  std::map<std::string, uint64_t> counts;
  for (const Role& role : kernel.roles) {
    for_each_instruction(kernel, role.body, warps_of(kernel, role),
                         [&](const isa::Instruction& instruction, uint64_t issued) { counts[instruction.mnemonic] += issued; });
  }
  return {counts.begin(), counts.end()};
}

}  // namespace warpfold::traces
