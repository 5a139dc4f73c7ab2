#include "workloads/common/warm_l2.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>
#include <vector>

namespace warpfold::workloads {

namespace {

constexpr double kShares = 256;

double in_l1(const traces::MemoryStream& stream) {
  return static_cast<double>(stream.l1_numerator) / static_cast<double>(stream.l1_denominator);
}

// By stream: bytes that the launch asks for. `times[c]`: how often all warps in CTAs of class c together run the body.
void add_bytes(const traces::Kernel& kernel, const std::vector<traces::Node>& body, const std::vector<uint64_t>& times,
               std::vector<double>& bytes) {
  const auto issued = static_cast<double>(std::accumulate(times.begin(), times.end(), uint64_t{0}));
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) {
        const auto& effect = instruction.effect;
        if (effect.stream < 0) continue;
        const auto stream = static_cast<size_t>(effect.stream);
        bytes[stream] += issued * (1 - in_l1(kernel.streams[stream])) * static_cast<double>(effect.bytes);
      }
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    std::vector<uint64_t> inside = times;
    for (size_t c = 0; c < inside.size(); ++c) inside[c] *= traces::trips(loop.trips, kernel.cta_classes[c]);
    add_bytes(kernel, loop.body, inside, bytes);
  }
}

double from_dram(const traces::MemoryStream& stream) {
  return static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator);
}

}  // namespace

void warm_l2(traces::Kernel& kernel, uint64_t l2_bytes) {
  std::vector<double> bytes(kernel.streams.size());
  for (const traces::Role& role : kernel.roles) {
    std::vector<uint64_t> warps = traces::ctas_by_class(kernel);
    for (uint64_t& count : warps) count *= role.warps;
    add_bytes(kernel, role.body, warps, bytes);
  }
  double read = 0;
  for (size_t s = 0; s < bytes.size(); ++s) read += kernel.streams[s].write ? 0 : bytes[s] * from_dram(kernel.streams[s]);
  if (read == 0) return;
  const double left = 1 - std::min(1.0, static_cast<double>(l2_bytes) / read);
  for (traces::MemoryStream& stream : kernel.streams) {
    if (stream.write) continue;
    stream.dram_numerator = static_cast<uint64_t>(std::ceil(kShares * left * from_dram(stream)));
    stream.dram_denominator = stream.dram_numerator == 0 ? 1 : static_cast<uint64_t>(kShares);
  }
}

}  // namespace warpfold::workloads
