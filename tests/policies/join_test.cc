// Two kernels in one launch: CTAs of both drawn in turn, or warps of both in a CTA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/policies/pair.h"
#include "tests/policies/support.h"
#include "tests/support/machine.h"
#include "tests/workloads/kernels.h"
#include "workloads/policies/join.h"

namespace warpfold::policies {
namespace {

using test::KernelText;
using test::loop;
using test::op;
using test::repeat;
using testing::ElementsAre;
using testing::HasSubstr;

traces::Kernel make(const std::string& name, uint64_t ctas, uint32_t warps, const test::Lines& lines,
                    const std::string& options = "registers=64") {
  return KernelText(name, "sm_90").options(options).ctas(ctas).role("warps", warps, lines).kernel();
}

test::Lines alu_work(uint64_t trips) { return loop(trips, repeat(16, {op("IADD3 R1, R2, R3, RZ")})); }
test::Lines fma_work(uint64_t trips) { return loop(trips, repeat(16, {op("IMAD R1, R2, R3, RZ")})); }
const std::string kSync = op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0");

// "108 of the first, 20 of both": parts that are there in runs of CTAs, from the names of their classes.
std::vector<std::pair<std::string, uint64_t>> grid(const traces::Kernel& kernel) {
  std::vector<std::pair<std::string, uint64_t>> runs;
  for (const traces::CtaRun& run : kernel.grid) runs.emplace_back(kernel.cta_classes[run.cta_class].name, run.count);
  return runs;
}

std::vector<std::string> first_words(const traces::Kernel& kernel) {
  std::vector<std::string> words;
  for (const auto& [name, count] : grid(kernel)) words.push_back(std::to_string(count) + name.substr(0, name.find('.')));
  return words;
}

// Rounds of a CTA an SM; a turn is one of the fewer CTAs and as many of the others as there are to each of them.
TEST(CtaInterleaved, DrawsInProportion) {
  const traces::Kernel a = make("a", 10, 4, alu_work(1));
  const traces::Kernel b = make("b", 24, 4, fma_work(1));
  EXPECT_THAT(first_words(interleave_ctas(a, b, {}, 4).value()), ElementsAre("4a", "8b", "4a", "8b", "2a", "8b"));
  EXPECT_THAT(first_words(interleave_ctas(b, a, {}, 4).value()), ElementsAre("8b", "4a", "8b", "4a", "8b", "2a"));
  EXPECT_THAT(first_words(interleave_ctas(a, b, {1, 1}, 4).value()), ElementsAre("4a", "4b", "4a", "4b", "2a", "16b"));
}

TEST(CtaInterleaved, PutsAsManySmallCtasInOneAsWarpsAllow) {
  const traces::Kernel a = make("a", 2, 4, {kSync}, "registers=64 shared_memory=1000");
  const traces::Kernel b = make("b", 7, 2, {kSync}, "registers=96 shared_memory=600");
  const traces::Kernel joined = interleave_ctas(a, b, {}, 1).value();
  EXPECT_EQ(joined.warps_per_cta(), 4);
  EXPECT_EQ(joined.ctas(), 2 + 4);
  EXPECT_EQ(joined.registers_per_thread, 96);
  EXPECT_EQ(joined.shared_memory_bytes, 2 * 640);
  EXPECT_EQ(workloads::issued(joined, "BAR"), 2 * 4 + 7 * 2);
  std::set<std::pair<int, int>> barriers;
  workloads::for_each_instruction(joined, [&](const isa::Instruction& instruction, uint64_t) {
    if (instruction.mnemonic.starts_with("BAR")) barriers.emplace(instruction.effect.barrier, instruction.effect.count);
  });
  EXPECT_THAT(barriers, ElementsAre(std::pair(0, 128), std::pair(1, 64), std::pair(2, 64)));
}

// One CTA of registers for each of two kernels fits an SM, and the first one would take both places.
TEST(CtaInterleaved, PutsBothOnEverySm) {
  Bench bench(2);
  const std::string half = "registers=128";  // of an SM's registers in 8 warps
  bench.add(make("a", 16, 8, alu_work(20), half), "stream: 0").add(make("b", 16, 8, fma_work(20), half), "stream: 1");
  const uint64_t sequential = bench.run(configs::SEQUENTIAL).total_cycles();
  EXPECT_GT(bench.run(configs::CONCURRENT).total_cycles(), sequential * 85 / 100);
  EXPECT_LT(bench.run(configs::CTA_INTERLEAVED).total_cycles(), sequential * 60 / 100);
}

TEST(WarpInterleaved, EndsWithTheLaterOne) {
  Bench bench(1);
  const std::string half = "registers=128";
  bench.add(make("a", 4, 4, alu_work(20), half), "stream: 0").add(make("b", 4, 4, fma_work(40), half), "stream: 1");
  const Plan plan = bench.plan(configs::WARP_INTERLEAVED);
  const traces::Kernel& joined = kernel(plan, "a");
  EXPECT_EQ(joined.warps_per_cta(), 8);
  EXPECT_EQ(joined.ctas(), 4);
  // The work of `a` is hidden behind `b`, whose CTAs keep those of `a` from the SM until they end.
  const configs::Result result = bench.run(configs::WARP_INTERLEAVED);
  const auto longer = static_cast<double>(bench.run(configs::SEQUENTIAL).alone(1).cycles());
  EXPECT_NEAR(static_cast<double>(result.total_cycles()), longer, 0.05 * longer);
}

TEST(WarpInterleaved, GivesCtasWithoutPartnerTheWarpsOfOneKernel) {
  const traces::Kernel a = make("a", 2, 4, alu_work(1), "registers=64 shared_memory=1000");
  const traces::Kernel b = make("b", 5, 2, fma_work(1), "registers=96 shared_memory=600");
  const traces::Kernel joined = interleave_warps(a, b).value();
  EXPECT_THAT(grid(joined), ElementsAre(testing::Pair(HasSubstr(".b."), 2), testing::Pair(testing::StartsWith("b."), 3)));
  EXPECT_EQ(joined.registers_per_thread, 96);
  EXPECT_EQ(joined.shared_memory_bytes, 1024 + 600);
  EXPECT_EQ(workloads::issued(joined, "IADD3"), workloads::issued(a, "IADD3"));
  EXPECT_EQ(workloads::issued(joined, "IMAD"), workloads::issued(b, "IMAD"));
}

// Rings, cursors, streams and parameters of one kernel are those of no other.
TEST(Join, NumbersWhatBelongsToAKernel) {
  const std::string arrive = op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {}, "barrier=0 cursor=0 advance=1");
  const std::string declaration = "ring full depth=2 arrivals=4\ncursor at depth=2 start=0";
  const auto ringing = [&](const std::string& name, uint32_t warps) {
    return KernelText(name, "sm_90").options("registers=32").declare(declaration).ctas(4).role("w", warps, {arrive}).kernel();
  };
  const traces::Kernel joined = interleave_ctas(ringing("a", 4), ringing("b", 2), {}, 1).value();
  EXPECT_EQ(joined.rings.size(), 3);
  EXPECT_EQ(joined.cursors.size(), 2);
  std::set<std::pair<int, int>> used;
  workloads::for_each_instruction(joined, [&](const isa::Instruction& instruction, uint64_t) {
    if (instruction.effect.cursor >= 0) used.emplace(instruction.effect.barrier, instruction.effect.cursor);
  });
  EXPECT_THAT(used, ElementsAre(std::pair(0, 0), std::pair(1, 1), std::pair(2, 1)));
}

TEST(Join, KeepsTheWorkOfAttention) {
  Bench bench(4);
  bench.add(
      "kernel { name: \"prefill\" stream: 0 flash_attention_2 { shape { heads: 4 queries: 512 head_dim: 128 type: FP16 "
      "causal: true } } }");
  bench.add(
      "kernel { name: \"decode\" stream: 1 flash_attention_2 { shape { batch: 4 heads: 4 queries: 2 keys: 512 head_dim: 128 "
      "type: FP16 } tile_queries: 16 tile_keys: 32 warps: 1 } }");
  const Plan written = bench.plan(configs::CONCURRENT);
  for (const configs::PolicyKind kind : {configs::CTA_INTERLEAVED, configs::WARP_INTERLEAVED}) {
    const Plan plan = bench.plan(kind);
    EXPECT_THAT(names(plan), ElementsAre("prefill"));
    EXPECT_THAT(plan.kernels[0].also, ElementsAre("decode"));
    for (const std::string name : {"prefill", "decode"}) {
      for (const std::string stream : {"Q", "K", "V", "O"}) {
        EXPECT_EQ(bytes(kernel(plan, "prefill"), name + "." + stream), bytes(kernel(written, name), stream)) << name << stream;
      }
    }
  }
}

TEST(Join, KeepsTheOrderOfTheOthers) {
  Bench bench(1);
  bench.add(make("before", 1, 4, alu_work(1)), "stream: 1").add(make("a", 1, 4, alu_work(1)), "stream: 0");
  bench.add(make("b", 1, 4, fma_work(1)), "stream: 1").add(make("last", 1, 4, fma_work(1)), "stream: 1");
  EXPECT_THAT(bench.refusal(configs::CTA_INTERLEAVED),
              HasSubstr("more than two kernels may run at the same time; name two as cta_interleaved.kernel"));
  bench.policy("cta_interleaved { kernel: \"a\" kernel: \"b\" } warp_interleaved { kernel: \"b\" kernel: \"last\" }");
  const Plan plan = bench.plan(configs::CTA_INTERLEAVED);
  EXPECT_THAT(names(plan), ElementsAre("before", "a", "last"));
  EXPECT_THAT(waits_for(plan, "a"), ElementsAre("before"));
  EXPECT_THAT(waits_for(plan, "last"), ElementsAre("a"));
  EXPECT_THAT(bench.refusal(configs::WARP_INTERLEAVED),
              HasSubstr("kernel \"b\" cannot run beside \"last\": one waits for the other"));
}

TEST(Join, RefusesWhatItHasNoRuleFor) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0")).add(rng("stream: 1"));
  for (const configs::PolicyKind kind : {configs::CTA_INTERLEAVED, configs::WARP_INTERLEAVED}) {
    EXPECT_THAT(bench.refusal(kind), HasSubstr("kernel \"qkv\" moves registers between its warpgroups"));
  }
  Bench alone(1);
  alone.add(make("a", 1, 4, alu_work(1)), "stream: 0");
  EXPECT_THAT(alone.refusal(configs::CTA_INTERLEAVED), HasSubstr("no two kernels may run at the same time"));
  traces::Kernel clusters = make("a", 4, 4, alu_work(1));
  clusters.cluster_ctas = 2;
  const traces::Kernel plain = make("b", 4, 4, alu_work(1));
  EXPECT_EQ(interleave_warps(clusters, plain).error().message, "kernel \"a\" has clusters of CTAs");
  traces::Kernel many = plain;
  many.grid = {{0, uint64_t{1} << 25}};
  EXPECT_EQ(interleave_warps(plain, many).error().message, "kernel \"b\" has more than 16777216 CTAs");
  traces::Kernel other = plain;
  other.architecture = "sm_80";
  EXPECT_EQ(interleave_warps(plain, other).error().message, "kernel \"b\" is for sm_80");
  const traces::Kernel barriers = make("c", 1, 1, {kSync});
  const traces::Kernel wide = make("d", 1, 16, {kSync});
  EXPECT_EQ(interleave_ctas(barriers, wide, {}, 1).error().message,
            "kernels \"c\" and \"d\" need more than the 16 named barriers of a CTA");
}

}  // namespace
}  // namespace warpfold::policies
