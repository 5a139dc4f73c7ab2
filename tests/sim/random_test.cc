// Random programs under all policies: whatever they do to each other, the account holds and the outcome is the same twice.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "tests/support/lock_step.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

template <typename Number>
Number between(Number least, Number most) {
  return *rc::gen::inRange<Number>(least, static_cast<Number>(most + 1));
}

bool one_in(int n) { return between(1, n) == 1; }

std::string reg() { return text({"R", std::to_string(between(2, 40)), one_in(5) ? ".reuse" : ""}); }
std::string pair() { return text({"R", std::to_string(2 * between(1, 20))}); }
std::string destination() { return text({"R", std::to_string(2 * between(21, 40))}); }

// One instruction of any pipe that all three architectures have, with the control code's stall, yield and waits at random.
std::string any_instruction() {
  Control control{.stall = between(0, 9) == 0 ? between(0, 15) : between(1, 4), .yield = one_in(10)};
  for (int c = 0; c < 6; ++c) {
    if (one_in(12)) control.wait.push_back(c);
  }
  const int kind = between(0, 19);
  const auto fixed = [&](std::initializer_list<std::string_view> pieces) { return op(text(pieces), control); };
  if (kind <= 2) return fixed({"FFMA ", destination(), ", ", reg(), ", ", reg(), ", ", reg()});
  if (kind <= 4) return fixed({"IADD3 ", destination(), ", ", reg(), ", ", reg(), ", ", reg()});
  if (kind == 5) return fixed({"IMAD ", destination(), ", ", reg(), ", ", reg(), ", RZ"});
  if (kind == 6) return fixed({"IMAD.WIDE.U32 ", destination(), ", ", reg(), ", ", reg(), ", ", pair()});
  if (kind == 7) return fixed({"HFMA2 ", destination(), ", ", reg(), ", ", reg(), ", ", reg()});
  if (kind == 8) return fixed({"LOP3.LUT ", destination(), ", ", reg(), ", ", reg(), ", ", reg(), ", 0x96, !PT"});
  if (kind == 9) return fixed({"HMMA.16816.F32 R80, R4, R8, R80"});
  if (kind == 10) return fixed({"UIADD3 UR4, UR5, UR6, URZ"});
  if (kind == 11) return fixed({"NOP"});
  if (one_in(2)) control.read = between(0, 5);
  const std::string wavefronts = text({"wavefronts=", std::to_string(between(1, 8))});
  const std::string bytes = text({"bytes=", std::to_string(32 * between(0, 16)), " stream=0"});
  if (kind == 12) return op(text({"STS [", reg(), "], ", reg()}), control, wavefronts);
  if (kind == 13) return op(text({"STG.E [", pair(), ".64], ", reg()}), control, bytes);
  control.write = between(0, 5);
  if (kind == 14) return op(text({"MUFU.EX2 ", destination(), ", ", reg()}), control);
  if (kind == 15) return op(text({"LDS ", destination(), ", [", reg(), "]"}), control, wavefronts);
  if (kind == 16) return op(text({"LDG.E ", destination(), ", [", pair(), ".64]"}), control, bytes);
  if (kind == 17) return op(text({"SHFL.IDX PT, ", destination(), ", ", reg(), ", RZ, 0x1f"}), control);
  if (kind == 18) return op(text({"LDC ", destination(), ", c[0x0][", reg(), "]"}), control);
  return op(text({"S2R ", destination(), ", SR_TID.X"}), control);
}

Lines any_code(int depth) {
  Lines lines;
  for (int i = between(1, 6); i > 0; --i) {
    if (depth > 0 && one_in(4)) {
      lines = join(lines, loop(between<uint64_t>(1, 12), join(any_code(depth - 1), {op("BRA `(.L_1)", {.stall = 5})})));
    } else {
      lines.push_back(any_instruction());
    }
  }
  return lines;
}

traces::Kernel any_kernel(const std::string& architecture, const std::string& name) {
  KernelText kernel(name, architecture);
  kernel.options(text({"registers=", std::to_string(between(16, 128)), " shared_memory=", std::to_string(between(0, 49152))}));
  kernel.declare("stream data read dram=1/3").ctas(between<uint64_t>(1, 12));
  if (architecture == "sm_90" && one_in(4)) kernel.role("tensor", 4, wgmma_lines({8 * between(1, 32), one_in(2), between(1, 20)}));
  const int roles = between(1, 3);
  for (int r = 0; r < roles; ++r) {
    Lines code = any_code(3);
    if (one_in(3))
      code = join(code, {op("LDGSTS.E.128 [R6], [R2.64]", {}, "bytes=512 stream=0"), op("LDGDEPBAR"),
                         op("DEPBAR.LE.LDGSTS SB0, 0x0", {.stall = 4})});
    kernel.role(text({"role", std::to_string(r)}), between(1U, 5U), code);
  }
  return kernel.kernel();
}

struct Scenario {
  configs::Gpu gpu;
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;
  bool serialise = false;

  std::string describe() const {
    std::string all = text({gpu.architecture(), serialise ? " serialised\n" : "\n"});
    for (const sim::Launch& each : launches) {
      const uint64_t ctas = each.kernel->ctas();
      all += text({each.kernel->name, " ctas ", std::to_string(ctas), " warps ", std::to_string(each.kernel->warps_per_cta()),
                   " registers ", std::to_string(each.kernel->registers_per_thread), " shared ",
                   std::to_string(each.kernel->shared_memory_bytes), " stream ", std::to_string(each.stream), " priority ",
                   std::to_string(each.priority), each.after.empty() ? "" : " after k0", each.reserved ? " reserved\n" : "\n"});
    }
    return all;
  }
};

Scenario any_scenario() {
  Scenario scenario;
  scenario.gpu = one_sm(*rc::gen::elementOf(std::vector<std::string>{"h100_sxm", "a100_sxm", "rtx_a6000"}));
  scenario.gpu.set_sm_count(between(1U, 3U));
  scenario.gpu.set_kernel_launch_cycles(between(1U, 50U));
  scenario.gpu.mutable_sm()->set_cta_launch_cycles(between(0U, 20U));
  scenario.gpu.mutable_sm()->set_cta_turnaround_cycles(between(0U, 20U));
  scenario.gpu.mutable_sub_core()->set_issue_policy(static_cast<configs::IssuePolicy>(between(0, 3)));
  const int kernels = between(1, 3);
  for (int k = 0; k < kernels; ++k)
    scenario.kernels.push_back(any_kernel(scenario.gpu.architecture(), text({"k", std::to_string(k)})));
  scenario.serialise = one_in(4);
  const bool carve_out = one_in(3);
  for (int k = 0; k < kernels; ++k) {
    sim::Launch each = launch(scenario.kernels[static_cast<size_t>(k)], one_in(3) ? 0 : k);
    each.priority = between(0, 2);
    if (k > 0 && one_in(5)) each.after = {0};
    if (carve_out && one_in(2)) {
      // Room for one or two of its CTAs, allocation granularity included.
      const auto up = [](uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; };
      const uint32_t ctas = between(1U, 2U);
      const traces::Kernel& kernel = *each.kernel;
      each.reserved = true;
      each.reserved_registers = ctas * kernel.warps_per_cta() * up(kernel.registers_per_thread * 32, 256);
      each.reserved_shared_memory = ctas * up(kernel.shared_memory_bytes + 1024, 128);
      each.reserved_warps = ctas * kernel.warps_per_cta();
    }
    scenario.launches.push_back(each);
  }
  return scenario;
}

// Everything that a replay says, as comparable text.
std::string everything(const Replay& run) {
  std::string all = text({std::to_string(run.outcome.total_cycles), run.outcome.deadlock.report, "\n"});
  const auto add = [&](uint64_t value) { all += text({std::to_string(value), " "}); };
  for (const sim::KernelCounters& counters : run.outcome.kernels) {
    for (const uint64_t value : {counters.start_cycle, counters.end_cycle, counters.ctas, counters.instructions, counters.l2_bytes,
                                 counters.dram_bytes, counters.resident_warp_cycles}) {
      add(value);
    }
    for (const uint64_t value : counters.states) add(value);
  }
  for (const auto& victim : run.outcome.ledger) {
    for (const auto& culprit : victim) {
      for (const uint64_t value : culprit) add(value);
    }
  }
  for (const sim::ResourceUse& use : run.outcome.resources) add(use.busy);
  for (const auto& launch_issues : run.issues) {
    for (const auto& warp : launch_issues) {
      for (const uint64_t cycle : warp) add(cycle);
    }
  }
  return all;
}

RC_GTEST_PROP(RandomPrograms, KeepTheAccountAndRepeatThemselves, ()) {
  const Scenario scenario = any_scenario();
  RC_LOG(scenario.describe());
  const Replay run = replay(scenario.gpu, scenario.launches, scenario.serialise);  // throws where the account does not hold
  RC_LOG(run.outcome.deadlock.report);
  RC_ASSERT(!run.outcome.deadlocked);
  for (size_t k = 0; k < scenario.launches.size(); ++k) {
    const traces::Kernel& kernel = *scenario.launches[k].kernel;
    const sim::KernelCounters& counters = run.outcome.kernels[k];
    RC_ASSERT(counters.ctas == kernel.ctas());
    RC_ASSERT(counters.instructions == traces::issued_instructions(kernel));
    uint64_t states = 0;
    for (const uint64_t cycles : counters.states) states += cycles;
    RC_ASSERT(states == counters.resident_warp_cycles);
    RC_ASSERT(counters.l2_bytes == counters.l2_bytes_served);
  }
  RC_ASSERT(everything(replay(scenario.gpu, scenario.launches, scenario.serialise)) == everything(run));
}

RC_GTEST_PROP(RandomPrograms, IssueOneInstructionACycleAndSubCoreAndNeverGoBackInTime, ()) {
  const Scenario scenario = any_scenario();
  std::vector<sim::IssueRecord> log;
  const auto outcome = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .issue_log = &log});
  RC_ASSERT(outcome.has_value());
  std::set<std::tuple<uint32_t, uint32_t, uint64_t>> taken;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> last_of_warp;
  std::map<uint32_t, uint64_t> last_of_class;
  for (const sim::IssueRecord& record : log) {
    RC_ASSERT(taken.insert({record.sm_class, record.sub_core, record.cycle}).second);
    auto& last = last_of_class[record.sm_class];
    RC_ASSERT(record.cycle >= last);
    last = record.cycle;
    const auto [at, first] = last_of_warp.try_emplace({record.sm_class, record.warp}, record.cycle);
    RC_ASSERT(first || record.cycle > at->second);
    at->second = record.cycle;
  }
}

// The whole chip is what its SMs do from cycle to cycle together, in order of their index; one SM is the same in both views.
RC_GTEST_PROP(RandomPrograms, OnTheWholeChipMeetMemoryInOrderOfTime, ()) {
  Scenario scenario = any_scenario();
  scenario.gpu.mutable_l2()->set_read_bytes_per_clk(between(8, 200));
  scenario.gpu.mutable_l2()->set_write_bytes_per_clk(between(8, 200));
  scenario.gpu.mutable_dram()->set_bandwidth_gb_per_s(between(10, 200));
  scenario.gpu.set_kernel_launch_cycles(between(0U, 50U));
  RC_LOG(scenario.describe());
  const auto chip = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .all_sms = true});
  RC_ASSERT(chip.has_value());
  const std::vector<LockStepLaunch> plain = lock_step(scenario.gpu, scenario.launches, scenario.serialise);
  for (size_t l = 0; l < plain.size(); ++l) {
    const sim::KernelCounters& kernel = chip->kernels[l];
    RC_ASSERT((LockStepLaunch{kernel.start_cycle, kernel.end_cycle, kernel.instructions, kernel.resident_warp_cycles}) == plain[l]);
  }
  if (scenario.gpu.sm_count() > 1) return;
  const auto classes = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise});
  RC_ASSERT(classes.has_value());
  RC_ASSERT(everything({*chip, {}}) == everything({*classes, {}}));
}

// Whoever has reserved what: warps between their first and last issue never need more registers than the SM has.
RC_GTEST_PROP(RandomPrograms, NeverHoldMoreThanTheSmHas, ()) {
  const Scenario scenario = any_scenario();
  const Replay run = replay(scenario.gpu, scenario.launches, scenario.serialise);
  std::map<uint64_t, int64_t> change;
  for (size_t k = 0; k < scenario.launches.size(); ++k) {
    const auto registers = static_cast<int64_t>((scenario.launches[k].kernel->registers_per_thread * 32 + 255) / 256 * 256);
    for (const auto& warp : run.issues[k]) {
      change[warp.front()] += registers;
      change[warp.back()] -= registers;
    }
  }
  int64_t held = 0;
  for (const auto& [cycle, difference] : change) RC_ASSERT((held += difference) <= 65536);
}

// Alone on one sub-core, a warp follows its control codes: the next issue is never earlier than the stall count says.
RC_GTEST_PROP(RandomPrograms, NeverIssueBeforeTheStallCount, ()) {
  Lines lines;
  std::vector<int> stalls;
  for (int i = between(1, 40); i > 0; --i) {
    lines.push_back(any_instruction());
    stalls.push_back((lines.back()[18] - '0') * 10 + (lines.back()[19] - '0'));
    if (lines.back()[15] == 'Y') stalls.back() = std::max(stalls.back(), 2);
  }
  const traces::Kernel kernel = KernelText("k", "sm_86").declare("stream data read dram=1/3").role("one", 1, lines).kernel();
  const std::vector<uint64_t> issues = replay(one_sm("rtx_a6000"), kernel).warp(0);
  RC_ASSERT(issues.size() == lines.size() + 1);
  for (size_t i = 0; i < lines.size(); ++i) RC_ASSERT(issues[i + 1] - issues[i] >= static_cast<uint64_t>(std::max(stalls[i], 1)));
}

}  // namespace
}  // namespace warpfold::test
