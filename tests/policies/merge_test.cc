// Random-number warps inside the CTAs of GEMMs: whose work, which numbers, how many registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/policies/pair.h"
#include "tests/policies/support.h"
#include "tests/support/machine.h"
#include "tests/workloads/kernels.h"
#include "workloads/policies/merge.h"

namespace warpfold::policies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string with_registers(uint32_t registers) {
  std::string shape = kGemm;
  return shape.replace(shape.find("160"), 3, std::to_string(registers));
}

// The work of the guest is all there, in the hosts: pass for pass, byte for byte.
TEST(WarpSpecialized, GivesTheGuestsWorkToTheHosts) {
  for (const std::string warps : {"", "warps: 4", "warps: 8"}) {
    Bench bench(4);
    bench.add(gemm("qkv", "stream: 0", with_registers(136))).add(rng("stream: 1")).add(gemm("reader", "stream: 0 after: \"rng\""));
    const Plan written = bench.plan(configs::CONCURRENT);
    const Plan plan = bench.policy("warp_specialized { " + warps + " }").plan(configs::WARP_SPECIALIZED);
    EXPECT_THAT(names(plan), ElementsAre("qkv", "reader"));
    const traces::Kernel& merged = kernel(plan, "qkv");
    EXPECT_EQ(bytes(merged, "rng.mask"), bytes(kernel(written, "rng"), "mask")) << warps;
    EXPECT_EQ(bytes(merged, "A"), bytes(kernel(written, "qkv"), "A"));
    EXPECT_EQ(merged.ctas(), kernel(written, "qkv").ctas());
    EXPECT_THAT(waits_for(plan, "reader"), ElementsAre("qkv"));
    EXPECT_THAT(plan.kernels[0].also, ElementsAre("rng"));
  }
}

TEST(WarpSpecialized, SharesByWhatEachHostAndEachCtaHasToDo) {
  Bench bench(5);  // 96 tiles on 5 SMs: one CTA has 20, the others 19
  bench.add(gemm("a", "stream: 0")).add(gemm("b", "stream: 0")).add(rng("stream: 1"));
  const Plan plan = bench.plan(configs::WARP_SPECIALIZED);
  const uint64_t in_a = bytes(kernel(plan, "a"), "rng.mask");
  const uint64_t in_b = bytes(kernel(plan, "b"), "rng.mask");
  EXPECT_EQ(in_a + in_b, 4U * 1024 * 1024 / 8);
  EXPECT_EQ(in_a, in_b);
  const traces::Kernel& a = kernel(plan, "a");
  const auto at = std::ranges::find(a.parameters, "rng.passes") - a.parameters.begin();
  std::vector<uint64_t> passes;
  for (const traces::CtaRun& run : a.grid) passes.insert(passes.end(), run.count, a.cta_classes[run.cta_class].values[at]);
  ASSERT_EQ(passes.size(), 5);
  EXPECT_GT(passes.front(), passes.back());
  EXPECT_EQ(std::accumulate(passes.begin(), passes.end(), uint64_t{0}), 4U * 1024 * 1024 / 2 / (128 * 32));
}

// 12 warps need 40 and 216 registers after setmaxnreg, and 4 guest warps need 32. They are launched with the average, and end up
// with the SM's 65536.
TEST(WarpSpecialized, MovesRegistersBetweenWarpgroups) {
  Bench bench(4);
  add_three(bench);
  const Plan written = bench.plan(configs::CONCURRENT);
  const traces::Kernel merged = kernel(bench.plan(configs::WARP_SPECIALIZED), "qkv");
  EXPECT_EQ(kernel(written, "rng").registers_per_thread, 32);
  EXPECT_EQ(merged.registers_per_thread, 128);
  EXPECT_EQ(merged.warps_per_cta(), 16);
  EXPECT_EQ(merged.registers_per_thread * 32 * merged.warps_per_cta(), 65536);
  const auto& first = std::get<traces::Block>(merged.roles.back().body.front()).code.front();
  EXPECT_THAT(first.mnemonic, testing::StartsWith("USETMAXREG.DEALLOC"));
  EXPECT_EQ(first.effect.count, 32);
}

TEST(WarpSpecialized, RefusesWhatDoesNotFit) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0", with_registers(168))).add(rng("stream: 1"));
  EXPECT_THAT(
      bench.refusal(configs::WARP_SPECIALIZED),
      testing::StartsWith("s.textproto: policy WARP_SPECIALIZED: a CTA of \"qkv\" with the warps of \"rng\" does not fit an SM: "
                          "it needs 16 warps, 69632 registers"));
  bench.policy("warp_specialized { warps: 24 }");
  EXPECT_THAT(bench.refusal(configs::WARP_SPECIALIZED), HasSubstr("does not fit"));
  bench.policy("warp_specialized { warps: 2 }");
  EXPECT_THAT(bench.refusal(configs::WARP_SPECIALIZED), HasSubstr("a guest there has 4, 8, ... warps, not 2"));
}

TEST(WarpSpecialized, RefusesHostsThatWaitForTheGuest) {
  Bench bench(4);
  add_three(bench);
  bench.policy("warp_specialized { host: \"reader\" }");
  EXPECT_THAT(bench.refusal(configs::WARP_SPECIALIZED),
              HasSubstr("kernel \"reader\" cannot run beside \"rng\": one waits for the other"));
}

TEST(WarpSpecialized, LeavesCtasWithoutWorkWhereThereIsLessThanOnePassEach) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0"));
  bench.add(rng("stream: 1", "heads: 1 queries: 64 keys: 64 rounds: 7 threshold_bits: 32 threads_per_cta: 128"));
  const Plan plan = bench.plan(configs::WARP_SPECIALIZED);
  EXPECT_EQ(bytes(kernel(plan, "qkv"), "rng.mask"), 64U * 64 / 8);
  const configs::Result result = bench.run(configs::WARP_SPECIALIZED);
  EXPECT_EQ(result.kernels(0).instructions_issued(), issued(plan, "qkv"));
}

traces::Kernel text_kernel(const std::string& name, const std::string& declaration, uint32_t warps, const test::Lines& lines) {
  test::KernelText text(name, "sm_90");
  text.options("registers=32").ctas(4);
  if (!declaration.empty()) text.declare(declaration);
  return text.role("w", warps, lines).kernel();
}

// "All threads" of a barrier stay those of its own kernel, and no barrier is used by both.
TEST(Merge, KeepsBarriersApart) {
  const std::string sync = test::op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0");
  const traces::Kernel host = text_kernel("host", "", 8, {sync});
  const traces::Kernel guest = text_kernel("guest", "", 4, test::loop(10, {sync}));
  const traces::Kernel merged = merge(host, guest, 4, passes_of(guest).value()).value();
  std::vector<std::pair<int, int>> barriers;
  workloads::for_each_instruction(merged, [&](const isa::Instruction& instruction, uint64_t) {
    if (instruction.mnemonic.starts_with("BAR")) barriers.emplace_back(instruction.effect.barrier, instruction.effect.count);
  });
  EXPECT_THAT(barriers, testing::UnorderedElementsAre(std::pair(0, 256), std::pair(1, 128)));
  EXPECT_EQ(traces::issued_instructions(merged), traces::issued_instructions(host) + traces::issued_instructions(guest));
}

TEST(Merge, NumbersRingsAndCursorsBehindTheHosts) {
  const std::string arrive = test::op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {}, "barrier=0 cursor=0 advance=1");
  const std::string declaration = "ring full depth=2 arrivals=4\ncursor at depth=2 start=0";
  const traces::Kernel host = text_kernel("host", declaration, 4, {arrive});
  const traces::Kernel guest = text_kernel("guest", declaration, 4, test::loop(10, {arrive}));
  const traces::Kernel merged = merge(host, guest, 4, 40).value();
  ASSERT_EQ(merged.rings.size(), 2);
  EXPECT_EQ(merged.rings[1].name, "guest.full");
  ASSERT_EQ(merged.cursors.size(), 2);
  std::vector<std::pair<int, int>> used;
  workloads::for_each_instruction(merged, [&](const isa::Instruction& instruction, uint64_t) {
    if (instruction.effect.cursor >= 0) used.emplace_back(instruction.effect.barrier, instruction.effect.cursor);
  });
  EXPECT_THAT(used, testing::UnorderedElementsAre(std::pair(0, 0), std::pair(1, 1)));
}

TEST(Merge, WantsAGuestOfOneLoop) {
  const traces::Kernel straight = text_kernel("guest", "", 4, {test::op("NOP")});
  EXPECT_EQ(passes_of(straight).error().message, "kernel \"guest\" is not one loop, whose passes hosts could share");
}

}  // namespace
}  // namespace warpfold::policies
