#include "workloads/policies/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "workloads/common/program.h"
#include "workloads/policies/instructions.h"

namespace warpfold::policies {
namespace {

constexpr uint32_t kWarpgroup = 4;         // setmaxnreg applies to a warpgroup; PTX ISA
constexpr uint32_t kRegisterStep = 8;      // PTX ISA, setmaxnreg: 24-256 in steps of 8
constexpr uint32_t kFewestRegisters = 24;  // PTX ISA, setmaxnreg

uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

bool is_loop(const traces::Node& node) { return std::holds_alternative<traces::Loop>(node); }

bool has_parameter(const std::vector<traces::Node>& body) {
  return std::ranges::any_of(body, [](const traces::Node& node) {
    const auto* loop = std::get_if<traces::Loop>(&node);
    return loop != nullptr && (loop->trips.parameter >= 0 || has_parameter(loop->body));
  });
}

Expected<const traces::Loop*> guest_loop(const traces::Kernel& guest) {
  const std::string name = "kernel " + escape::quoted(guest.name);
  if (guest.roles.size() != 1) return fail(name + " has " + std::to_string(guest.roles.size()) + " roles; a guest has one");
  const std::vector<traces::Node>& body = guest.roles.front().body;
  if (std::ranges::count_if(body, is_loop) != 1) return fail(name + " is not one loop, whose passes hosts could share");
  const auto& loop = std::get<traces::Loop>(*std::ranges::find_if(body, is_loop));
  if (has_parameter(loop.body)) return fail(name + " has loops of its own inside each pass");
  return &loop;
}

class Merger {
 public:
  Merger(const traces::Kernel& host, const traces::Kernel& guest, uint32_t warps)
      : architecture_(**isa::Architecture::find(host.architecture)),
        merged_(host),
        guest_(guest),
        role_(guest.roles.front()),
        host_warps_(host.warps_per_cta()),
        warps_(warps) {}

  Expected<traces::Kernel> merge(uint64_t passes) {
    merged_.source += " + " + guest_.source;
    // The merged kernel gets the guest's operations in proportion to its passes.
    const uint64_t all = *passes_of(guest_) * guest_.warps_per_cta();
    if (all > 0) merged_.flops += part_of(guest_.flops, passes * warps_, all);
    if (guest_.shared_memory_bytes > 0) {
      merged_.shared_memory_bytes = round_up(merged_.shared_memory_bytes, kSharedMemoryAlignment) + guest_.shared_memory_bytes;
    }
    if (const auto barriers = move_barriers(); !barriers) return std::unexpected(barriers.error());
    move_effects();
    append_lists();
    share_passes(passes);
    if (const auto registers = set_registers(); !registers) return std::unexpected(registers.error());
    role_.name = guest_.name + "." + role_.name;
    role_.warps = warps_;
    merged_.roles.push_back(std::move(role_));
    return std::move(merged_);
  }

 private:
  isa::Behaviour behaviour(const isa::Instruction& instruction) const { return architecture_.info(instruction).behaviour; }

  // Before the merge, a barrier of "all threads" meant the threads of its own kernel; the count becomes explicit.
  void make_thread_counts_explicit(std::vector<traces::Node>& body, uint32_t warps) const {
    for_each_instruction(body, [&](isa::Instruction& instruction) {
      if (!is_named_barrier(behaviour(instruction))) return;
      instruction.effect.barrier = std::max<int16_t>(instruction.effect.barrier, 0);
      if (instruction.effect.count == 0) instruction.effect.count = static_cast<uint16_t>(warps * kWarpThreads);
    });
  }

  Expected<void> move_barriers() {
    std::set<int16_t> taken;
    for (traces::Role& role : merged_.roles) {
      make_thread_counts_explicit(role.body, host_warps_);
      for_each_instruction(role.body, [&](const isa::Instruction& instruction) {
        if (is_named_barrier(behaviour(instruction))) taken.insert(instruction.effect.barrier);
      });
    }
    make_thread_counts_explicit(role_.body, warps_);
    std::map<int16_t, int16_t> moved;
    for_each_instruction(role_.body, [&](isa::Instruction& instruction) {
      if (!is_named_barrier(behaviour(instruction))) return;
      const auto [place, is_new] = moved.try_emplace(instruction.effect.barrier, int16_t{0});
      if (is_new) {
        while (taken.contains(place->second)) ++place->second;
        taken.insert(place->second);
      }
      instruction.effect.barrier = place->second;
    });
    if (taken.empty() || *taken.rbegin() < kNamedBarriers) return {};
    return fail("kernels " + escape::quoted(merged_.name) + " and " + escape::quoted(guest_.name) +
                " need more than the 16 named barriers of a CTA");
  }

  void move_effects() {
    for_each_instruction(role_.body, [&](isa::Instruction& instruction) {
      isa::Effect& effect = instruction.effect;
      if (effect.stream >= 0) effect.stream = static_cast<int16_t>(effect.stream + merged_.streams.size());
      if (effect.cursor >= 0) effect.cursor = static_cast<int16_t>(effect.cursor + merged_.cursors.size());
      const bool ring = effect.barrier >= 0 && !is_named_barrier(behaviour(instruction));
      if (ring) effect.barrier = static_cast<int16_t>(effect.barrier + merged_.rings.size());
    });
  }

  void append_lists() {
    const auto append = [&](auto& to, const auto& from) {
      for (const auto& each : from) {
        to.push_back(each);
        to.back().name = guest_.name + "." + each.name;
      }
    };
    append(merged_.streams, guest_.streams);
    append(merged_.rings, guest_.rings);
    append(merged_.cursors, guest_.cursors);
  }

  uint64_t instructions(const traces::CtaClass& cta_class) const {
    uint64_t sum = 0;
    for (const traces::Role& role : merged_.roles) sum += role.warps * traces::issued_instructions(merged_, role, cta_class);
    return sum;
  }

  // Divides the passes in proportion to the instructions of each host CTA, so that host and guest work end at the same time. The
  // remainder goes to the first CTAs, one pass each.
  void share_passes(uint64_t passes) {
    std::vector<uint64_t> weight;
    for (const traces::CtaClass& cta_class : merged_.cta_classes) weight.push_back(instructions(cta_class));
    uint64_t total = 0;  // does not overflow: the instructions of a valid launch fit 64 bits
    for (const traces::CtaRun& run : merged_.grid) total += weight[run.cta_class] * run.count;
    std::vector<uint64_t> share;
    for (const uint64_t of_class : weight) {
      share.push_back(part_of(passes, of_class, total));
    }
    uint64_t left = passes;
    for (const traces::CtaRun& run : merged_.grid) left -= share[run.cta_class] * run.count;

    std::get<traces::Loop>(*std::ranges::find_if(role_.body, is_loop)).trips = {
        .literal = 1, .parameter = static_cast<int32_t>(merged_.parameters.size())};
    merged_.parameters.push_back(guest_.name + ".passes");
    const std::vector<traces::CtaClass> classes = std::exchange(merged_.cta_classes, {});
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> known;
    const auto add = [&](std::vector<traces::CtaRun>& grid, uint32_t from, uint64_t trips, uint64_t count) {
      if (count == 0) return;
      const auto [place, is_new] = known.try_emplace({from, trips}, static_cast<uint32_t>(merged_.cta_classes.size()));
      if (is_new) {
        traces::CtaClass cta_class = classes[from];
        cta_class.name += "." + guest_.name + std::to_string(trips);
        cta_class.values.push_back(trips);
        merged_.cta_classes.push_back(std::move(cta_class));
      }
      grid.push_back({place->second, count});
    };
    std::vector<traces::CtaRun> grid;
    for (const traces::CtaRun& run : merged_.grid) {
      const uint64_t more = std::min(left, run.count);
      left -= more;
      add(grid, run.cta_class, share[run.cta_class] + 1, more);
      add(grid, run.cta_class, share[run.cta_class], run.count - more);
    }
    merged_.grid = std::move(grid);
  }

  // Registers that a role's setmaxnreg requests; 0 if it has none.
  uint32_t wanted_registers(traces::Role& role) const {
    uint32_t wanted = 0;
    for_each_instruction(role.body, [&](const isa::Instruction& instruction) {
      if (behaviour(instruction) == isa::Behaviour::kSetMaxRegisters) wanted = instruction.effect.count;
    });
    return wanted;
  }

  Expected<void> set_registers() {
    const uint32_t launched = merged_.registers_per_thread;
    const uint32_t own = std::max(kFewestRegisters, round_up(guest_.registers_per_thread, kRegisterStep));
    uint32_t least = 0;  // registers per thread of roles that keep the registers of the launch
    uint32_t sum = own * warps_;
    bool moves = false;
    for (traces::Role& role : merged_.roles) {
      const uint32_t wanted = wanted_registers(role);
      moves = moves || wanted > 0;
      if (wanted == 0) least = std::max(least, launched);
      sum += (wanted > 0 ? wanted : launched) * role.warps;
    }
    if (!moves) {
      merged_.registers_per_thread = std::max(launched, guest_.registers_per_thread);
      return {};
    }
    const uint32_t average = round_up((sum + host_warps_ + warps_ - 1) / (host_warps_ + warps_), kRegisterStep);
    const uint32_t registers = std::max(average, least);
    for (traces::Role& role : merged_.roles) {
      const uint32_t wanted = wanted_registers(role);
      if (wanted == 0 || (wanted < launched) == (wanted < registers)) continue;
      return fail("role " + role.name + " of kernel " + escape::quoted(merged_.name) + " moves from " + std::to_string(launched) +
                  " to " + std::to_string(wanted) + " registers; the guest's warps change the launch's registers to " +
                  std::to_string(registers) + ", from which the role would have to move the other way");
    }
    merged_.registers_per_thread = registers;
    if (own == registers) return {};
    if (host_warps_ % kWarpgroup != 0 || warps_ % kWarpgroup != 0) {
      return fail("kernel " + escape::quoted(merged_.name) +
                  " moves registers between warpgroups: a guest there has 4, 8, ... warps, not " + std::to_string(warps_));
    }
    move_guest_registers(own, own < registers);
    return {};
  }

  void move_guest_registers(uint32_t registers, bool back) {
    workloads::Code code(architecture_);
    code.add(workloads::line({"USETMAXREG.", back ? "DEALLOC" : "TRY_ALLOC", ".CTAPOOL ", workloads::immediate(registers)}),
             {.count = static_cast<uint16_t>(registers)});
    role_.body.insert(role_.body.begin(), workloads::block_of(code));
  }

  const isa::Architecture& architecture_;
  traces::Kernel merged_;
  const traces::Kernel& guest_;
  traces::Role role_;  // the guest's role
  uint32_t host_warps_;
  uint32_t warps_;
};

}  // namespace

uint64_t part_of(uint64_t whole, uint64_t weight, uint64_t total) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(whole) * weight / total);
}

Expected<uint64_t> passes_of(const traces::Kernel& guest) {
  const auto loop = guest_loop(guest);
  if (!loop) return std::unexpected(loop.error());
  uint64_t passes = 0;
  for (const traces::CtaRun& run : guest.grid)
    passes += run.count * traces::trips((*loop)->trips, guest.cta_classes[run.cta_class]);
  return passes;
}

Expected<traces::Kernel> merge(const traces::Kernel& host, const traces::Kernel& guest, uint32_t warps, uint64_t passes) {
  if (const auto loop = guest_loop(guest); !loop) return std::unexpected(loop.error());
  if (warps != guest.warps_per_cta() && !guest.rings.empty()) {
    return fail("the warps of kernel " + escape::quoted(guest.name) + " wait for each other at mbarriers: a CTA must have " +
                std::to_string(guest.warps_per_cta()) + ", not " + std::to_string(warps));
  }
  return Merger(host, guest, warps).merge(passes);
}

}  // namespace warpfold::policies
