#include "tests/support/random_programs.h"

#include <algorithm>
#include <stdexcept>

#include "configs/resources.h"
#include "configs/settings.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

std::string reg() { return text({"R", std::to_string(between(2, 40)), one_in(5) ? ".reuse" : ""}); }
std::string pair() { return text({"R", std::to_string(2 * between(1, 20))}); }
std::string destination() { return text({"R", std::to_string(2 * between(21, 40))}); }

}  // namespace

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
  const std::string bytes = text({"bytes=", std::to_string(32 * between(1, 16)), " stream=0"});
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

namespace {

Lines any_code(int depth) {
  Lines lines;
  for (int i = between(1, 6); i > 0; --i) {
    if (depth > 0 && one_in(4)) {
      const Lines body = join(any_code(depth - 1), {op("BRA `(.L_1)", {.stall = 5})});
      lines = join(lines, loop(between<uint64_t>(1, 12), body));
    } else {
      lines.push_back(any_instruction());
    }
  }
  return lines;
}

traces::Kernel any_kernel(const std::string& architecture, const std::string& name) {
  KernelText kernel(name, architecture);
  // With up to 104 registers a thread, the largest CTA fits: a tensor role of four warps and three roles of five.
  kernel.options(text({"registers=", std::to_string(between(16, 104)), " shared_memory=", std::to_string(between(0, 49152))}));
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

uint32_t up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

// Reserves room for one or two CTAs of the launch, allocation granularity included.
void reserve_some(sim::Launch& each) {
  const uint32_t ctas = between(1U, 2U);
  const traces::Kernel& kernel = *each.kernel;
  each.reserved = true;
  each.reserved_registers = ctas * kernel.warps_per_cta() * up(kernel.registers_per_thread * 32, 256);
  each.reserved_shared_memory = ctas * up(kernel.shared_memory_bytes + 1024, 128);
  each.reserved_warps = ctas * kernel.warps_per_cta();
}

}  // namespace

std::string Scenario::describe() const {
  std::string all = text({gpu.architecture(), serialise ? " serialised\n" : "\n"});
  for (const sim::Launch& each : launches) {
    const uint64_t ctas = each.kernel->ctas();
    all += text({each.kernel->name,
                 " ctas ",
                 std::to_string(ctas),
                 " warps ",
                 std::to_string(each.kernel->warps_per_cta()),
                 " registers ",
                 std::to_string(each.kernel->registers_per_thread),
                 " shared ",
                 std::to_string(each.kernel->shared_memory_bytes),
                 " stream ",
                 std::to_string(each.stream),
                 " priority ",
                 std::to_string(each.priority),
                 each.after.empty() ? "" : " after k0",
                 each.reserved ? " reserved" : "",
                 each.quota.bounds() ? " quota" : "",
                 " SMs ",
                 std::to_string(each.sms.first),
                 "+",
                 std::to_string(each.sms.count),
                 "\n"});
  }
  return all;
}

void share_machine(Scenario& scenario) {
  const bool carve_out = one_in(3);
  for (size_t k = 0; k < scenario.kernels.size(); ++k) {
    sim::Launch each = launch(scenario.kernels[k], one_in(3) ? 0 : static_cast<int>(k));
    each.priority = between(0, 2);
    if (k > 0 && one_in(5)) each.after = {0};
    if (carve_out && one_in(2)) reserve_some(each);
    scenario.launches.push_back(each);
  }
}

void bound_machine(Scenario& scenario) {
  const uint32_t sms = scenario.gpu.sm_count();
  const bool sliced = one_in(3);
  const bool partitioned = one_in(3);
  for (sim::Launch& each : scenario.launches) {
    const uint32_t ctas = between(1U, 3U);
    if (sliced && one_in(3)) each.quota.ctas = ctas;
    if (sliced && one_in(3)) each.quota.warps = ctas * each.kernel->warps_per_cta();
    if (sliced && one_in(3))
      each.quota.registers = ctas * each.kernel->warps_per_cta() * up(each.kernel->registers_per_thread * 32, 256);
    if (!partitioned || one_in(2)) continue;
    each.sms.first = between(0U, sms - 1);
    each.sms.count = between(1U, sms - each.sms.first);
  }
  if (one_in(4)) scenario.gpu.mutable_sub_core()->set_issue_policy(configs::KERNEL_PRIORITY);
}

std::string scale_machine(configs::Gpu& gpu) {
  std::string scaled;
  for (int n = between(1, 4); n > 0; --n) {
    const configs::ScalableResource& resource = *rc::gen::elementOf(
        std::vector<configs::ScalableResource>(configs::scalable_resources().begin(), configs::scalable_resources().end()));
    // A scaled capacity might leave no room for a program.
    if (resource.whole || (resource.kind == configs::ResourceKind::kCapacity && resource.name != "memory_queue")) continue;
    // Ports and issue slots are scaled by 1/2 or 2 only; two read ports are the most that a bank may have.
    const bool few = resource.name.ends_with("_ports") || resource.name == "issue_slot";
    const bool more = resource.name != "register_read_ports" || gpu.sub_core().read_ports_per_bank() == 1;
    const std::vector<double> factors = !more ? std::vector<double>{0.5}
                                        : few ? std::vector<double>{0.5, 2}
                                              : std::vector<double>{0.5, 0.7, 1.5, 2, 3};
    const std::string field(resource.path);
    const std::string value = std::to_string(*rc::gen::elementOf(factors));
    if (!configs::set_field(gpu, field, value)) throw std::logic_error(text({"no field ", field}));
    scaled += text({field, "=", value, " "});
  }
  return scaled;
}

Scenario any_scenario() {
  Scenario scenario;
  scenario.gpu = one_sm(*rc::gen::elementOf(std::vector<std::string>{"h100_sxm", "a100_sxm", "rtx_a6000"}));
  scenario.gpu.set_sm_count(between(1U, 3U));
  scenario.gpu.set_kernel_launch_cycles(between(1U, 50U));
  scenario.gpu.mutable_sm()->set_cta_launch_cycles(between(0U, 20U));
  scenario.gpu.mutable_sm()->set_cta_turnaround_cycles(between(0U, 20U));
  scenario.gpu.mutable_sub_core()->set_issue_policy(any_of<configs::IssuePolicy>());
  const int kernels = between(1, 3);
  for (int k = 0; k < kernels; ++k)
    scenario.kernels.push_back(any_kernel(scenario.gpu.architecture(), text({"k", std::to_string(k)})));
  scenario.serialise = one_in(4);
  share_machine(scenario);
  bound_machine(scenario);
  for (sim::Launch& each : scenario.launches) each.early = one_in(4);
  return scenario;
}

}  // namespace warpfold::test
