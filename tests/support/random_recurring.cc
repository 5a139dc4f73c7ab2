#include <algorithm>
#include <array>
#include <map>

#include "tests/support/random_programs.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

// Most warp instructions that a scenario's kernels issue on one SM. A full replay then takes some hundredths of a
// second.
constexpr uint64_t kInstructions = 120'000;

// A seed gives the same program with every compiler. So at most one argument of a call may draw: the order in which
// arguments are evaluated depends on the compiler.

Lines some_code(int most) {
  Lines lines;
  for (int i = between(1, most); i > 0; --i) lines.push_back(any_instruction());
  return lines;
}

std::string bytes(uint32_t most) { return text({"bytes=", std::to_string(128 * between(1U, most)), " stream=0"}); }

// A loop that may end with an explicit branch.
Lines turn(uint64_t trips, Lines lines) {
  if (one_in(2)) lines.push_back(op("BRA `(.L_1)", {.stall = 5}));
  return loop(trips, lines);
}

Lines nested(int depth) {
  Lines lines = some_code(3);
  if (depth > 0) {
    const Lines inner = nested(depth - 1);
    lines = join(lines, turn(between<uint64_t>(2, 6), inner));
  }
  if (one_in(2)) lines = join(lines, some_code(2));
  return lines;
}

Lines async_copies() {
  const std::string size = bytes(4);
  const Lines copies = {op("LDGSTS.E.128 [R6], [R2.64]", {.read = one_in(2) ? 0 : -1}, size), op("LDGDEPBAR"),
                        op(text({"DEPBAR.LE.LDGSTS SB0, 0x", std::to_string(between(0, 3))}), {.stall = 4})};
  return join(some_code(2), copies);
}

Lines barrier(uint32_t warps) {
  const std::string effect = text({"barrier=1 count=", std::to_string(32 * warps)});
  return {op("BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", {.stall = 2}, effect)};
}

// Adds a producer that fills a ring by bulk copies, and a warpgroup that multiplies from it.
void add_pipeline(KernelText& kernel, std::string_view trips) {
  const std::string depth = text({"depth=", std::to_string(between(1, 4))});
  const uint32_t tile = 256 * between(1U, 8U);
  const std::string size = std::to_string(tile);
  kernel.declare(text({"ring full ", depth, " arrivals=1"})).declare(text({"ring empty ", depth, " arrivals=4 free"}));
  kernel.declare(text({"cursor load ", depth})).declare(text({"cursor use ", depth}));
  const auto wait = [](std::string_view effect) {
    return op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, effect);
  };
  Lines use = {wait("barrier=0 cursor=1")};
  if (one_in(4)) use = join(use, some_code(2));
  use = join(use, wgmma_lines({8 * between(1, 32), one_in(2), between(1, 4)}));
  use.push_back(op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=1 cursor=1 advance=1"));
  kernel.role("consumer", 4, loop(trips, use));
  kernel.role("producer", 1,
              loop(trips, {wait("barrier=1 cursor=0"),
                           op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, text({"barrier=0 cursor=0 tx_bytes=", size})),
                           op("UTMALDG.2D [UR8], [UR4]", {.stall = between(1, 4)},
                              text({"bytes=", size, " barrier=0 cursor=0 stream=0 advance=1"}))}));
}

// Draws the code of one role for every round. `warps`: number of warps of the role.
Lines round(uint32_t warps, bool warpgroup) {
  switch (between(0, 6)) {
    case 0:
      return nested(2);
    case 1:
      return async_copies();
    case 2:
      return join(some_code(5), barrier(warps));
    case 3:
      if (warpgroup) {
        const Lines products = wgmma_lines({8 * between(1, 32), one_in(2), between(1, 6)});
        return join(some_code(2), products);
      }
      return some_code(8);
    default:
      return some_code(8);
  }
}

// Draws a grid of CTA classes with different trip counts: one class, a repeated sequence, or runs of random length.
std::string classes(uint64_t trips, uint64_t ctas) {
  const int kinds = one_in(2) ? 1 : between(2, 3);
  std::string lines = "parameter t\n";
  for (int c = 0; c < kinds; ++c)
    lines += text({"class c", std::to_string(c), " t=", std::to_string(c == 0 ? trips : between<uint64_t>(1, 2 * trips)), "\n"});
  lines += "grid";
  const bool repeated = one_in(2);
  std::vector<std::pair<int, uint64_t>> runs;
  for (uint64_t left = ctas; left > 0;) {
    const auto from = runs.size() - static_cast<size_t>(kinds);
    const std::pair<int, uint64_t> next =
        repeated && runs.size() >= static_cast<size_t>(kinds)
            ? runs[from]
            : std::pair{static_cast<int>(runs.size()) % kinds, between<uint64_t>(1, kinds == 1 ? ctas : 8)};
    runs.emplace_back(next.first, std::min(left, next.second));
    left -= runs.back().second;
  }
  for (const auto& [c, count] : runs) lines += text({" c", std::to_string(c), "*", std::to_string(count)});
  return text({lines, "\n"});
}

traces::Kernel any_recurring_kernel(const std::string& architecture, const std::string& name, uint64_t instructions, uint32_t sms) {
  KernelText kernel(name, architecture);
  const bool hopper = architecture == "sm_90";
  // Fewer CTAs on an SM give a shorter period, and so do calm rounds. Both are drawn more often.
  const int shared_memory = one_in(3) ? between(0, 49152) : 49152;
  const bool calm = !one_in(4);
  kernel.options(text({"registers=", std::to_string(between(16, 128)), " shared_memory=", std::to_string(shared_memory)}));
  const auto share = *rc::gen::elementOf(std::vector<std::string>{"0/1", "0/1", "1/1", "1/1", "1/2", "1/4", "3/8", "1/3"});
  kernel.declare(text({"stream data read dram=", share}));
  // Either few CTAs of many rounds, or many CTAs of few.
  const uint64_t trips = one_in(2) ? between<uint64_t>(200, 1500) : between<uint64_t>(2, 20);
  if (hopper && one_in(3)) {
    add_pipeline(kernel, "t");
  } else {
    uint32_t before = 0;
    for (int r = between(1, 2); r > 0; --r) {
      const uint32_t warps = between(1U, 4U);
      const bool warpgroup = hopper && warps == 4 && before == 0;
      const Lines after = some_code(2);
      const Lines rounds = loop("t", calm ? some_code(4) : round(warps, warpgroup));
      kernel.role(text({"role", std::to_string(r)}), warps, join(some_code(2), join(rounds, after)));
      before += warps;
    }
  }
  const uint64_t of_cta = traces::issued_instructions(
      kernel.classes(text({"parameter t\nclass c t=", std::to_string(trips), "\ngrid c*1\n"})).kernel());
  const uint64_t most = std::clamp<uint64_t>(instructions * sms / of_cta, 1, 400);
  return kernel.classes(classes(trips, between<uint64_t>((most + 1) / 2, most))).kernel();
}

void any_sub_core(configs::SubCore& sub_core) {
  sub_core.set_issue_policy(any_of<configs::IssuePolicy>());
  if (one_in(2)) sub_core.set_read_ports_per_bank(between(1U, 2U));
  if (one_in(4)) sub_core.set_read_window_cycles(between(1U, 6U));
  if (one_in(4)) sub_core.set_register_file_cache(one_in(2));
  if (one_in(2)) sub_core.set_memory_queue_entries(between(1U, 12U));
  if (one_in(4)) sub_core.set_address_generation_interval_cycles(between(1U, 8U));
  if (one_in(4)) sub_core.set_memory_transit_cycles(between(0U, 40U));
  if (one_in(4)) sub_core.set_load_return_bytes_per_clk(between(8U, 128U));
  if (one_in(2)) sub_core.set_alu_admission_entries(between(0U, 15U));
  if (one_in(2)) sub_core.set_fma_heavy_admission_entries(between(0U, 15U));
  if (one_in(2)) sub_core.set_xu_admission_entries(between(0U, 15U));
}

void any_tensor(configs::Tensor& tensor) {
  if (one_in(2)) tensor.set_wgmma_fifo_entries(between(1U, 8U));
  if (one_in(4)) tensor.set_wgmma_completion_cycles(between(0U, 80U));
  if (one_in(4)) tensor.set_accumulator_commit_window_cycles(between(1U, 30U));
  if (one_in(4)) tensor.set_accumulator_commit_reads(between(0U, 12U));
}

void any_sm(configs::Sm& sm) {
  sm.set_cta_launch_cycles(between(0U, 40U));
  if (one_in(4)) sm.set_memory_issue_interval_cycles(between(1U, 4U));
  if (one_in(2)) sm.set_memory_credits(between(1U, 40U));
  if (one_in(2)) sm.set_barrier_latency_cycles(between(0U, 60U));
  if (one_in(4)) sm.set_ingress_bytes_per_clk(between(8U, 128U));
  if (one_in(4)) sm.set_egress_bytes_per_clk(between(8U, 128U));
  if (one_in(4)) sm.set_warp_slots(4 * between(4U, 16U));
  if (!sm.has_tensor()) return;
  if (one_in(4)) sm.set_mbarrier_latency_cycles(between(0U, 60U));
  if (one_in(4)) sm.set_bulk_copy_issue_cycles(between(1U, 100U));
  any_tensor(*sm.mutable_tensor());
}

void any_memory(configs::Gpu& gpu) {
  // Per SM, the rates are those of a chip of 100 SMs and more.
  const double rate = 0.5 * between(8U, 160U) * gpu.sm_count();
  gpu.mutable_l2()->set_read_bytes_per_clk(rate);
  gpu.mutable_l2()->set_write_bytes_per_clk(one_in(2) ? rate : rate / 2);
  gpu.mutable_l2()->set_hit_latency_cycles(between(20U, 400U));
  gpu.mutable_dram()->set_bandwidth_gb_per_s(between(5U, 60U) * gpu.sm_count());
  gpu.mutable_dram()->set_latency_cycles(between(100U, 800U));
}

}  // namespace

Scenario any_recurring_scenario() {
  Scenario scenario;
  scenario.gpu = one_sm(*rc::gen::elementOf(std::vector<std::string>{"h100_sxm", "h100_sxm", "a100_sxm", "rtx_a6000"}));
  scenario.gpu.set_sm_count(between(1U, 3U));
  scenario.gpu.set_kernel_launch_cycles(between(1U, 300U));
  any_sub_core(*scenario.gpu.mutable_sub_core());
  any_sm(*scenario.gpu.mutable_sm());
  any_memory(scenario.gpu);
  const int kernels = one_in(2) ? 1 : between(2, 3);
  for (int k = 0; k < kernels; ++k)
    scenario.kernels.push_back(any_recurring_kernel(scenario.gpu.architecture(), text({"k", std::to_string(k)}),
                                                    kInstructions / static_cast<uint64_t>(kernels), scenario.gpu.sm_count()));
  scenario.serialise = one_in(6);
  share_machine(scenario);
  for (sim::Launch& each : scenario.launches) each.early = one_in(6);
  return scenario;
}

std::shared_ptr<const Scenario> recurring_scenario(uint64_t seed) {
  const auto any = rc::gen::exec([] { return std::make_shared<const Scenario>(any_recurring_scenario()); });
  return any(rc::Random(seed), 100).value();
}

}  // namespace warpfold::test
