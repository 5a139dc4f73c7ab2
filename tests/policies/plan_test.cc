// The launch plans that policies make of a scenario, before any simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/policies/pair.h"
#include "tests/policies/support.h"
#include "tests/support/machine.h"
#include "tests/workloads/kernels.h"

namespace warpfold::policies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Registry, HasEveryPolicyOnceAndSaysWhatItIs) {
  const auto* kinds = configs::PolicyKind_descriptor();
  ASSERT_EQ(all().size(), static_cast<size_t>(kinds->value_count()));
  for (int k = 0; k < kinds->value_count(); ++k) {
    const auto is_it = [&](const Policy* policy) { return policy->kind() == kinds->value(k)->number(); };
    ASSERT_EQ(std::ranges::count_if(all(), is_it), 1) << kinds->value(k)->name();
    EXPECT_FALSE((*std::ranges::find_if(all(), is_it))->help().empty());
  }
}

TEST(AsWritten, KeepsNamesStreamsPrioritiesAndDependences) {
  Bench bench(4);
  add_three(bench);
  const Plan plan = bench.plan(configs::CONCURRENT);
  EXPECT_THAT(names(plan), ElementsAre("qkv", "rng", "reader"));
  EXPECT_EQ(plan.kernels[0].priority, 1);
  EXPECT_EQ(plan.kernels[1].stream, 1);
  EXPECT_THAT(waits_for(plan, "reader"), ElementsAre("rng"));
  EXPECT_EQ(plan.stored_bits_bytes, 4U * 1024 * 1024 / 8);
  EXPECT_FALSE(plan.serialise);
  EXPECT_TRUE(bench.plan(configs::SEQUENTIAL).serialise);
}

TEST(CarveOut, ReservesPartsOfAnSm) {
  Bench bench(4);
  add_three(bench);
  EXPECT_EQ(bench.refusal(configs::CARVE_OUT), "s.textproto: policy CARVE_OUT: needs at least one reserve { kernel: ... }");
  bench.policy("reserve { kernel: \"rng\" register_percent: 6.25 shared_memory_percent: 50 warp_slot_percent: 6.25 }");
  const Plan plan = bench.plan(configs::CARVE_OUT);
  ASSERT_TRUE(plan.kernels[1].reserved);
  EXPECT_EQ(plan.kernels[1].reserved_registers, 4096);
  EXPECT_EQ(plan.kernels[1].reserved_shared_memory, 233472U / 2);
  EXPECT_EQ(plan.kernels[1].reserved_warps, 4);
  EXPECT_FALSE(plan.kernels[0].reserved);
  bench.policy("reserve { kernel: \"rng\" register_percent: 6.25 warp_slot_percent: 0.5 }");
  EXPECT_THAT(bench.refusal(configs::CARVE_OUT), HasSubstr("rounds to no warp slot of 64"));
}

TEST(SmPartition, GivesStreamsBlocksAndKernelsWithoutPartnersTheChip) {
  Bench bench(12);
  add_three(bench);
  const Plan equal = bench.plan(configs::SM_PARTITION);
  EXPECT_EQ(equal.kernels[0].sms.first, 0);
  EXPECT_EQ(equal.kernels[0].sms.count, 6);
  EXPECT_EQ(equal.kernels[1].sms.first, 6);
  EXPECT_EQ(equal.kernels[1].sms.count, 6);
  EXPECT_EQ(equal.kernels[2].sms.count, 0);
  // A persistent launch is as large as its set.
  EXPECT_EQ(kernel(equal, "qkv").ctas(), 6);
  EXPECT_EQ(kernel(equal, "reader").ctas(), 12);
  const std::string half = "no sm_share, so a set of 6 SMs: an equal part of 12 SMs among 2 streams";
  EXPECT_THAT(kernel(equal, "qkv").assumed, Contains(half));
  EXPECT_THAT(kernel(equal, "rng").assumed, Contains(half));
  EXPECT_THAT(kernel(equal, "reader").assumed, IsEmpty());

  bench.policy("sm_share { kernel: \"rng\" percent: 25 }");
  const Plan quarter = bench.plan(configs::SM_PARTITION);
  EXPECT_EQ(quarter.kernels[0].sms.count, 9);
  EXPECT_EQ(quarter.kernels[1].sms.first, 9);
  EXPECT_EQ(quarter.kernels[1].sms.count, 3);
  EXPECT_THAT(kernel(quarter, "qkv").assumed, Contains("no sm_share, so a set of 9 SMs: what the other shares leave"));
  EXPECT_THAT(kernel(quarter, "rng").assumed, Not(Contains(HasSubstr("no sm_share"))));
}

// A set that other kernels of the stream determine, and sizes that the driver makes.
TEST(SmPartition, StatesWhyAKernelHasItsSet) {
  Bench bench(132);
  bench.add(gemm("first", "stream: 0")).add(gemm("second", "stream: 0")).add(rng("stream: 1"));
  bench.policy("sm_share { kernel: \"first\" sms: 96 }");
  const Plan stated = bench.plan(configs::SM_PARTITION);
  EXPECT_THAT(kernel(stated, "first").assumed, Not(Contains(HasSubstr("no sm_share"))));
  EXPECT_THAT(kernel(stated, "second").assumed, Contains("no sm_share, so a set of 96 SMs: the widest share of its stream"));
  bench.policy("");
  const Plan equal = bench.plan(configs::SM_PARTITION);
  EXPECT_THAT(kernel(equal, "first").assumed, Contains("no sm_share, so a set of 64 SMs: an equal part of 132 SMs among 2 "
                                                       "streams, rounded to a size that the driver makes"));
}

TEST(SmPartition, RefusesMoreThanTheChip) {
  Bench bench(12);
  add_three(bench);
  bench.policy("sm_share { kernel: \"rng\" percent: 75 } sm_share { kernel: \"qkv\" sms: 4 }");
  EXPECT_EQ(bench.refusal(configs::SM_PARTITION),
            "s.textproto: policy SM_PARTITION: the SM shares of the streams add up to 13 SMs; the GPU has 12");
  bench.policy("sm_share { kernel: \"rng\" percent: 100 }");
  EXPECT_THAT(bench.refusal(configs::SM_PARTITION), HasSubstr("the SM shares leave nothing to 1 more streams"));
  bench.policy("sm_share { kernel: \"rng\" percent: 1 }");
  EXPECT_THAT(bench.refusal(configs::SM_PARTITION), HasSubstr("the share of kernel \"rng\" rounds to no SM of 12"));
}

TEST(Policies, OfSharingNeedTwoKernelsThatMayOverlap) {
  Bench bench(4);
  bench.add(gemm("a", "")).add(gemm("b", ""));
  for (const configs::PolicyKind kind : {configs::SM_PARTITION, configs::SLICED}) {
    EXPECT_THAT(bench.refusal(kind), HasSubstr("no two kernels may run at the same time")) << configs::PolicyKind_Name(kind);
  }
  EXPECT_THAT(bench.refusal(configs::PRIORITY), HasSubstr("kernels that may overlap have equal priorities"));
  for (const configs::PolicyKind kind : {configs::FUSED, configs::WARP_SPECIALIZED, configs::PIPELINED}) {
    EXPECT_THAT(bench.refusal(kind), HasSubstr("there is no Philox kernel")) << configs::PolicyKind_Name(kind);
  }
}

TEST(Sliced, DealsCtasByDominantShares) {
  Bench bench(1);
  // An eighth and a sixteenth of the registers a CTA: the shares are even at four and eight.
  const auto busy = [](const std::string& name, const std::string& options) {
    return test::KernelText(name, "sm_90").options(options).ctas(64).role("w", 4, {test::op("NOP")}).kernel();
  };
  bench.add(busy("big", "registers=64"), "stream: 0").add(busy("small", "registers=32"), "stream: 1");
  const Plan plan = bench.plan(configs::SLICED);
  EXPECT_EQ(plan.kernels[0].quota.ctas, 4);
  EXPECT_EQ(plan.kernels[1].quota.ctas, 8);
}

TEST(Sliced, RefusesKernelsThatDoNotFitAnSmTogether) {
  Bench bench(4);
  const std::string fat = "m: 1024 n: 1536 k: 512 type: FP8 output_type: BF16 persistent: true registers_per_thread: 168";
  bench.add(gemm("qkv", "stream: 0", fat)).add(rng("stream: 1"));
  EXPECT_THAT(bench.refusal(configs::SLICED), HasSubstr("does not fit an SM beside those of the others"));
}

TEST(Pipelined, CutsWhatFollowsTheReader) {
  Bench bench(4);
  add_three(bench);
  bench.add(gemm("proj", "stream: 0"));
  bench.policy("pipelined { segments: 2 }");
  const Plan plan = bench.plan(configs::PIPELINED);
  EXPECT_THAT(names(plan), ElementsAre("qkv", "rng.0", "reader.0", "proj.0", "rng.1", "reader.1", "proj.1"));
  EXPECT_THAT(waits_for(plan, "reader.1"), ElementsAre("qkv", "rng.1"));
  EXPECT_THAT(waits_for(plan, "rng.1"), ElementsAre());
  EXPECT_EQ(plan.stored_bits_bytes, 4U * 1024 * 1024 / 8);
  EXPECT_EQ(bytes(kernel(plan, "rng.1"), "mask"), 4U * 1024 * 1024 / 8 / 2);
  EXPECT_EQ(2 * kernel(plan, "proj.0").flops, kernel(bench.plan(configs::CONCURRENT), "proj").flops);
}

TEST(Pipelined, BoundsWhatIsStored) {
  Bench bench(4);
  add_three(bench);
  const Plan four = bench.plan(configs::PIPELINED);
  EXPECT_EQ(four.stored_bits_bytes, 4U * 1024 * 1024 / 8 / 2);
  EXPECT_THAT(waits_for(four, "rng.2"), ElementsAre("reader.0"));
  bench.policy("pipelined { segments: 8 buffers: 1 }");
  const Plan tight = bench.plan(configs::PIPELINED);
  EXPECT_EQ(tight.stored_bits_bytes, 4U * 1024 * 1024 / 8 / 8);
  EXPECT_THAT(waits_for(tight, "rng.1"), ElementsAre("reader.0"));
}

TEST(Pipelined, InASteadyStateTheGemmsInFrontFollowTheirSegment) {
  Bench bench(4);
  add_three(bench);
  bench.policy("pipelined { segments: 2 steady_state: true }");
  const Plan plan = bench.plan(configs::PIPELINED);
  EXPECT_THAT(names(plan), ElementsAre("reader.0", "qkv.0", "rng.1", "reader.1", "qkv.1", "rng.0"));
  EXPECT_THAT(waits_for(plan, "reader.0"), ElementsAre());
  EXPECT_THAT(waits_for(plan, "qkv.1"), ElementsAre("reader.1"));
  EXPECT_THAT(waits_for(plan, "reader.1"), testing::Contains("rng.1"));
  EXPECT_THAT(waits_for(plan, "rng.0"), ElementsAre("reader.0"));
}

TEST(Pipelined, RefusesSegmentsThatDoNotDivide) {
  Bench bench(4);
  add_three(bench);
  bench.policy("pipelined { segments: 3 }");
  EXPECT_EQ(bench.refusal(configs::PIPELINED),
            "s.textproto: policy PIPELINED: the 1024 queries of kernel \"rng\" cannot be cut into 3 equal segments");
}

TEST(Fused, MovesTheRandomNumbersIntoTheAttention) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0")).add(rng("stream: 1")).add(attention("stream: 0 after: \"rng\""));
  const Plan written = bench.plan(configs::CONCURRENT);
  const Plan plan = bench.plan(configs::FUSED);
  EXPECT_THAT(names(plan), ElementsAre("qkv", "attention"));
  EXPECT_THAT(plan.kernels[1].also, ElementsAre("rng"));
  EXPECT_THAT(waits_for(plan, "attention"), ElementsAre());
  EXPECT_EQ(plan.stored_bits_bytes, 0);
  // Philox multiplies; reading a bit does not.
  EXPECT_GT(workloads::issued(kernel(plan, "attention"), "IMAD"), workloads::issued(kernel(written, "attention"), "IMAD"));
  EXPECT_GT(issued(plan, "attention"), issued(written, "attention"));
}

TEST(Fused, NeedsAsManyBitsAsElements) {
  Bench bench(4);
  bench.add(rng("stream: 1")).add(attention("stream: 0 after: \"rng\"", "keys: 512 "));
  EXPECT_EQ(bench.refusal(configs::FUSED),
            "s.textproto: policy FUSED: kernel \"rng\" makes 4194304 bits, attention \"attention\" has 2097152 elements");
}

// A causal segment reads the keys up to its own end, so that the GEMM in front of it may be cut as well.
TEST(Pipelined, CutsCausalAttentionAndWhatIsInFrontOfIt) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0")).add(rng("stream: 1")).add(attention("stream: 0 after: \"rng\"", "causal: true "));
  bench.policy("pipelined { segments: 2 }");
  const Plan plan = bench.plan(configs::PIPELINED);
  EXPECT_THAT(names(plan), ElementsAre("rng.0", "qkv.0", "attention.0", "rng.1", "qkv.1", "attention.1"));
  EXPECT_LT(issued(plan, "attention.0"), issued(plan, "attention.1"));
  const auto products = [](const Plan& of, const std::string& name) { return workloads::issued(kernel(of, name), "HGMMA"); };
  EXPECT_EQ(products(plan, "attention.0") + products(plan, "attention.1"), products(bench.plan(configs::CONCURRENT), "attention"));
}

TEST(Fused, NeedsAnAttentionThatReadsTheBits) {
  Bench bench(4);
  add_three(bench);
  EXPECT_EQ(bench.refusal(configs::FUSED),
            "s.textproto: policy FUSED: no attention with dropout STORED_BITS runs after kernel \"rng\"");
}

// A kernel that waited for the random numbers waits for the launches that these waited for, in their stream as well.
TEST(Fused, KeepsTheOrderRoundTheKernelThatGoes) {
  Bench bench(4);
  bench.add(gemm("first", "stream: 1")).add(rng("stream: 1")).add(attention("stream: 0 after: \"rng\""));
  EXPECT_THAT(waits_for(bench.plan(configs::FUSED), "attention"), ElementsAre("first"));
}

TEST(Fused, RefusesBitsThatTwoRead) {
  Bench bench(4);
  std::string other = attention("stream: 0 after: \"rng\"");
  other.replace(other.find("attention"), 9, "other");
  bench.add(rng("stream: 1")).add(attention("stream: 0 after: \"rng\"")).add(other);
  EXPECT_EQ(bench.refusal(configs::FUSED),
            "s.textproto: policy FUSED: both \"attention\" and \"other\" read the bits of kernel \"rng\"");
  EXPECT_EQ(bench.refusal(configs::PIPELINED),
            "s.textproto: policy PIPELINED: more than one attention reads the bits of kernel \"rng\"");
}

// Random numbers that wait for a GEMM which is cut, and of which a segment follows them.
TEST(Pipelined, RefusesWhatWouldLoseADependence) {
  Bench bench(4);
  bench.add(gemm("qkv", "stream: 0")).add(rng("stream: 1 after: \"qkv\""));
  bench.add(attention("stream: 0 after: \"rng\"", "causal: true "));
  bench.policy("pipelined { segments: 2 }");
  EXPECT_EQ(bench.refusal(configs::PIPELINED),
            "s.textproto: policy PIPELINED: cut into segments, kernel \"rng\" would run before \"qkv\", for which it waits");
}

// Everything again folded exactly: the same bits.
TEST(Policies, GiveTheSameFoldedAsReplayed) {
  Bench bench(8);
  const std::string small = std::string(kGemm).replace(0, std::string("m: 1024 n: 1536").size(), "m: 512 n: 512");
  bench.add(gemm("qkv", "stream: 0 priority: 1", small));
  bench.add(rng("stream: 1"));
  bench.add(attention("stream: 0 after: \"rng\""));
  bench.policy("reserve { kernel: \"rng\" register_percent: 6.25 warp_slot_percent: 6.25 }");
  Bench pair(8);  // kernels of one kind of warp, for policies that join them
  pair.add(
      "kernel { name: \"prefill\" stream: 0 flash_attention_2 { shape { heads: 4 queries: 1024 head_dim: 128 type: FP16 } } }");
  pair.add(rng("stream: 1"));
  for (const Policy* policy : all()) {
    const bool joins = policy->kind() == configs::CTA_INTERLEAVED || policy->kind() == configs::WARP_INTERLEAVED;
    const Bench& kernels = joins ? pair : bench;
    configs::Result off = kernels.run(policy->kind(), "off");
    configs::Result exact = kernels.run(policy->kind(), "exact");
    EXPECT_LE(exact.instructions_replayed(), off.instructions_replayed());
    for (configs::Result* result : {&off, &exact}) {
      result->clear_fold();
      result->clear_instructions_replayed();
    }
    EXPECT_EQ(off.DebugString(), exact.DebugString()) << configs::PolicyKind_Name(policy->kind());
  }
}

}  // namespace
}  // namespace warpfold::policies
