#include "isa/control_code_assigner.h"

#include <algorithm>
#include <map>
#include <string>

#include "isa/architecture.h"
#include "isa/counter_allocation.h"
#include "isa/dependences.h"
#include "isa/issue_hints.h"
#include "isa/operand.h"

namespace warpfold::isa {

namespace {

constexpr int kLargestStall = 15;
// An increment of a dependence counter is visible one cycle after issue, so a waiting instruction issues two
// cycles later.
constexpr int kCounterVisible = 2;
constexpr int kPassesToSettle = 8;

// `to` issues at least `cycles` after `from`. If `carried`, `from` belongs to the previous pass of the loop.
struct Spacing {
  size_t from;
  size_t to;
  bool carried;
  int cycles;
};

// True for "@!PT LDS RZ, [RZ]" and the like. The compiler uses these as padding between memory instructions and
// reserves no port for them.
bool never_executed(const Instruction& instruction) {
  return instruction.guard.present && instruction.guard.negated && instruction.guard.predicate == kTruePredicate;
}

// Separates successive instructions of a compiler port by the interval of the earlier one.
void add_port_spacings(const Architecture& architecture, std::span<const Instruction> code, bool loop,
                       std::vector<Spacing>& spacings) {
  std::map<std::string, size_t> last;
  const size_t passes = loop ? 2 : 1;
  for (size_t at = 0; at < passes * code.size(); ++at) {
    const size_t i = at % code.size();
    const OpcodeInfo& info = architecture.info(code[i]);
    if (info.compiler_port.empty() || never_executed(code[i])) continue;
    const auto before = last.find(info.compiler_port);
    if (before != last.end() && at + code.size() >= passes * code.size()) {
      const size_t from = before->second % code.size();
      const bool carried = before->second / code.size() != at / code.size();
      spacings.push_back({from, i, carried, architecture.info(code[from]).compiler_interval});
    }
    last[info.compiler_port] = at;
  }
}

// Makes results near the end of a loop body ready at the branch target, because the compiler schedules the target as
// other code.
void add_target_spacings(const Architecture& architecture, std::span<const Instruction> code, std::vector<Spacing>& spacings) {
  if (architecture.info(code.back()).behaviour != Behaviour::kBranch) return;
  for (size_t i = 0; i < code.size(); ++i) {
    const OpcodeInfo& info = architecture.info(code[i]);
    if (!info.fixed_latency()) continue;
    const int registers = info.before_target != 0 ? info.before_target : architecture.register_before_target();
    for (const Operand& operand : code[i].operands) {
      if (!operand.destination) continue;
      const bool predicate = operand.kind == OperandKind::kPredicate && operand.index != kTruePredicate;
      if (predicate) spacings.push_back({i, 0, true, architecture.predicate_before_target()});
      if (operand.width > 0) spacings.push_back({i, 0, true, registers});
    }
  }
}

// Issue times of one pass, each as early as the spacings allow. `previous`: times of the previous pass; empty in the
// first pass.
class Pass {
 public:
  Pass(const Architecture& architecture, std::span<const Instruction> code, const std::vector<std::vector<Spacing>>& before,
       const std::vector<int>& previous)
      : architecture_(architecture), code_(code), before_(before), previous_(previous), times_(code.size(), 0) {
    for (size_t i = 0; i < code.size(); ++i) place(i);
  }

  const std::vector<int>& times() const { return times_; }

 private:
  int minimum_stall(size_t i) const { return std::max<int>(1, architecture_.info(code_[i]).minimum_stall); }

  int earliest(size_t i) const {
    int time = 0;
    if (i > 0)
      time = times_[i - 1] + minimum_stall(i - 1);
    else if (!previous_.empty())
      time = previous_.back() + minimum_stall(code_.size() - 1);
    for (const Spacing& spacing : before_[i]) {
      if (spacing.carried && !previous_.empty()) time = std::max(time, previous_[spacing.from] + spacing.cycles);
      if (!spacing.carried) time = std::max(time, times_[spacing.from] + spacing.cycles);
    }
    return time;
  }

  // Places instruction `i`. A stall count has four bits, so a longer gap delays the preceding instructions by the
  // remainder.
  void place(size_t i) {
    times_[i] = earliest(i);
    for (size_t j = i; j > 0 && times_[j] - times_[j - 1] > kLargestStall; --j) times_[j - 1] = times_[j] - kLargestStall;
    times_[i] = std::max(times_[i], earliest(i));
  }

  const Architecture& architecture_;
  std::span<const Instruction> code_;
  const std::vector<std::vector<Spacing>>& before_;
  const std::vector<int>& previous_;
  std::vector<int> times_;
};

void assign_stalls(const Architecture& architecture, std::span<Instruction> code, bool loop, const std::vector<Spacing>& spacings) {
  std::vector<std::vector<Spacing>> before(code.size());
  for (const Spacing& spacing : spacings) before[spacing.to].push_back(spacing);

  std::vector<int> previous;
  std::vector<int> stalls(code.size(), 1);
  for (int pass = 0; pass < (loop ? kPassesToSettle : 1); ++pass) {
    const std::vector<int> times = Pass(architecture, code, before, previous).times();
    for (size_t i = 0; i + 1 < code.size(); ++i) stalls[i] = times[i + 1] - times[i];
    if (!previous.empty())
      stalls.back() = times.front() - previous.back();
    else
      stalls.back() = architecture.info(code.back()).minimum_stall;
    previous = times;
  }
  for (size_t i = 0; i < code.size(); ++i) code[i].control.stall = static_cast<uint8_t>(std::clamp(stalls[i], 1, kLargestStall));
}

}  // namespace

void assign_control_codes(const Architecture& architecture, std::span<Instruction> code, bool loop) {
  if (code.empty()) return;
  for (Instruction& instruction : code) instruction.control = ControlCode{};
  const std::vector<Dependence> dependences = find_dependences(architecture, code, loop);
  allocate_counters(architecture, code, loop, dependences);

  std::vector<Spacing> spacings;
  for (const Dependence& dependence : dependences) {
    const int cycles = dependence.protection == Protection::kStall ? dependence.cycles : kCounterVisible;
    spacings.push_back({dependence.producer, dependence.consumer, dependence.carried, cycles});
  }
  add_port_spacings(architecture, code, loop, spacings);
  if (loop) add_target_spacings(architecture, code, spacings);
  assign_stalls(architecture, code, loop, spacings);
  assign_issue_hints(architecture, code);
}

std::vector<BrokenDependence> check_control_codes(const Architecture& architecture, std::span<const Instruction> code, bool loop) {
  std::vector<BrokenDependence> broken;
  if (code.empty()) return broken;
  const int pass_cycles = scheduled_cycles(code);
  std::vector<int> times(code.size(), 0);
  for (size_t i = 1; i < code.size(); ++i) times[i] = times[i - 1] + std::max<int>(1, code[i - 1].control.stall);

  const std::vector<Dependence> dependences = find_dependences(architecture, code, loop);
  CounterState counters(architecture, code);
  const size_t passes = loop ? 2 : 1;
  for (size_t pass = 0; pass < passes; ++pass) {
    auto next = dependences.begin();
    for (size_t i = 0; i < code.size(); ++i) {
      counters.wait(i, code[i].control.wait_mask);
      for (; next != dependences.end() && next->consumer == i; ++next) {
        if (pass + 1 < passes) continue;  // the last pass sees all dependences, those around the loop included
        const int given = times[i] - times[next->producer] + (next->carried ? pass_cycles : 0);
        const bool held =
            next->protection == Protection::kStall ? given >= next->cycles : given >= kCounterVisible && counters.done(*next);
        if (!held) broken.push_back({next->producer, next->consumer, next->cycles, given});
      }
      counters.issue(i);
    }
    counters.next_pass();
  }
  return broken;
}

int scheduled_cycles(std::span<const Instruction> code) {
  int cycles = 0;
  for (const Instruction& instruction : code) cycles += std::max<int>(1, instruction.control.stall);
  return cycles;
}

}  // namespace warpfold::isa
