#include "tools/warpfold/figures/invariants.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace warpfold::cli {

namespace pb = google::protobuf;

namespace {

// Shares and rates are quotients: equal sums may differ in the last bit.
constexpr double kRounding = 1e-9;
constexpr double kCounters = 0.03;           // relative error of the counters of bounded runs (docs/sampling.md)
constexpr double kLongestInstruction = 512;  // cycles of a pipe: a tcgen05.mma of 256 x 256 x 32 bytes takes 256

std::string in(const std::string& path, const std::string& field) { return path.empty() ? field : path + "." + field; }

std::optional<std::string> non_finite(const pb::Message& message, const std::string& path) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const bool group = field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
    if (!group && field->cpp_type() != pb::FieldDescriptor::CPPTYPE_DOUBLE) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      std::string place = in(path, field->name());
      if (field->is_repeated()) place += "[" + std::to_string(i) + "]";
      if (group) {
        const pb::Message& inner =
            field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i) : reflection.GetMessage(message, field);
        if (auto found = non_finite(inner, place)) return found;
      } else if (!std::isfinite(field->is_repeated() ? reflection.GetRepeatedDouble(message, field, i)
                                                     : reflection.GetDouble(message, field))) {
        return place;
      }
    }
  }
  return std::nullopt;
}

uint64_t sum(const pb::RepeatedPtrField<configs::StateCycles>& states) {
  return std::accumulate(states.begin(), states.end(), uint64_t{0},
                         [](uint64_t all, const configs::StateCycles& state) { return all + state.warp_cycles(); });
}

class Check {
 public:
  explicit Check(const configs::Result& result) : result_(result) {}

  std::optional<std::string> run() {
    if (const auto place = non_finite_field(result_)) require(false, *place + " is not a finite number");
    require(result_.total_time_us() >= 0, "the run takes " + std::to_string(result_.total_time_us()) + " us");
    for (const configs::KernelResult& kernel : result_.kernels()) check_kernel(kernel);
    for (const configs::Resource& resource : result_.resources()) {
      const double most = 1 + kRounding + bound() + under_way();
      require(resource.utilization() >= 0 && resource.utilization() <= most &&
                  static_cast<double>(resource.busy()) <= most * static_cast<double>(resource.capacity()),
              resource.name() + " is busy for " + std::to_string(resource.busy()) + " of " + std::to_string(resource.capacity()));
    }
    for (const configs::ResourceEnergy& energy : result_.power().resources())
      require(is_share(energy.share()), energy.resource() + " takes " + std::to_string(energy.share()) + " of the energy");
    return std::move(broken_);
  }

 private:
  // The relative error of counters that folding estimates: an SM's DRAM bytes, and a pipe's busy cycles.
  double bound() const { return result_.fold().mode() == "bounded" ? std::max(result_.fold().error_bound(), kCounters) : 0; }
  // A pipe counts an instruction whole at issue, even if the run ends first; returns that excess as a share of the run.
  double under_way() const { return kLongestInstruction / static_cast<double>(std::max<uint64_t>(result_.total_cycles(), 1)); }
  static bool is_share(double value) { return value >= 0 && value <= 1 + kRounding; }

  void require(bool holds, std::string otherwise) {
    if (!holds && !broken_) broken_ = std::move(otherwise);
  }

  void check_kernel(const configs::KernelResult& kernel) {
    const std::string name = "kernel " + kernel.name() + ": ";
    require(kernel.start_cycle() <= kernel.end_cycle() && kernel.end_cycle() <= result_.total_cycles(),
            name + "runs from " + std::to_string(kernel.start_cycle()) + " to " + std::to_string(kernel.end_cycle()) + " of " +
                std::to_string(result_.total_cycles()) + " cycles");
    require(kernel.time_us() >= 0 && kernel.occupancy().average_warps() >= 0,
            name + "takes " + std::to_string(kernel.time_us()) + " us with " + std::to_string(kernel.occupancy().average_warps()) +
                " warps");
    require(kernel.cycles() == kernel.end_cycle() - kernel.start_cycle(), name + "its cycles are not from its start to its end");
    require(sum(kernel.states()) == kernel.resident_warp_cycles(),
            name + "its states take " + std::to_string(sum(kernel.states())) + " of " +
                std::to_string(kernel.resident_warp_cycles()) + " resident warp-cycles");
    require(static_cast<double>(kernel.dram_bytes()) <= (1 + bound()) * static_cast<double>(kernel.l2_bytes()) ||
                kernel.l2_bytes() == 0,
            name + std::to_string(kernel.dram_bytes()) + " bytes of DRAM among " + std::to_string(kernel.l2_bytes()) + " of L2");
    check_phases(kernel, name);
    check_slowdown(kernel.slowdown(), name);
    const configs::MemoryTraffic& memory = kernel.memory();
    for (const double rate : {memory.l1_hit_rate(), memory.l2_hit_rate(), memory.conflict_rate()})
      require(is_share(rate), name + "a hit or conflict rate of " + std::to_string(rate));
  }

  void check_phases(const configs::KernelResult& kernel, const std::string& name) {
    if (kernel.roles().empty()) return;
    uint64_t resident = 0;
    for (const configs::RoleAccount& role : kernel.roles()) {
      for (const configs::PhaseAccount& phase : role.phases()) {
        require(sum(phase.states()) == phase.resident_warp_cycles(),
                name + role.role() + "'s states in " + phase.phase() + " take " + std::to_string(sum(phase.states())) + " of " +
                    std::to_string(phase.resident_warp_cycles()) + " resident warp-cycles");
        resident += phase.resident_warp_cycles();
      }
    }
    require(resident == kernel.resident_warp_cycles(), name + "its phases have " + std::to_string(resident) + " of " +
                                                           std::to_string(kernel.resident_warp_cycles()) + " resident warp-cycles");
  }

  // Allows for the rounding of `warps`, a quotient.
  void check_slowdown(const configs::Slowdown& slowdown, const std::string& name) {
    if (slowdown.warps() == 0) return;
    int64_t losses = 0;
    for (const configs::Loss& loss : slowdown.losses()) losses += loss.warp_cycles();
    const double longer = static_cast<double>(slowdown.cycles()) - static_cast<double>(slowdown.solo_cycles());
    const double expected = longer * slowdown.warps();
    require(std::abs(static_cast<double>(losses) - expected) <=
                1 + kRounding * static_cast<double>(slowdown.cycles()) * slowdown.warps(),
            name + "its losses of " + std::to_string(losses) + " warp-cycles are not the " + std::to_string(expected) +
                " that it takes longer than alone");
  }

  const configs::Result& result_;
  std::optional<std::string> broken_;
};

}  // namespace

std::optional<std::string> non_finite_field(const pb::Message& message) { return non_finite(message, ""); }

std::optional<std::string> broken_invariant(const configs::Result& result) { return Check(result).run(); }

}  // namespace warpfold::cli
