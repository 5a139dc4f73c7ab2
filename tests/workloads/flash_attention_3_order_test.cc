// The order of instructions in FlashAttention-3's kernels, and their distances, as in compiled code.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/flash_attention_3.h"

namespace warpfold::workloads {
namespace {

// The room of O, formerly of V, is free once it has been read. The last warpgroup checks this behind the next tile's first products
// and before their softmax (mainloop_fwd_sm90_tma_gmma_ws.hpp, tma_store_wait), not at the end of a tile.
TEST(FlashAttention3Order, TheStoreIsWaitedForInTheNextTile) {
  const traces::Kernel kernel = make(attention(2, 16, 8192, 128));
  const auto& tile = std::get<traces::Loop>(role(kernel, "consumer1").body.at(1)).body;
  const auto& first = std::get<traces::Block>(tile.front()).code;
  const auto& last = std::get<traces::Block>(tile.back()).code;
  const auto at = [&](const std::string& mnemonic) {
    return std::ranges::find_if(first, [&](const isa::Instruction& each) { return each.mnemonic.starts_with(mnemonic); }) -
           first.begin();
  };
  EXPECT_LT(at("HGMMA"), at("UTMACMDFLUSH"));
  EXPECT_LT(at("UTMACMDFLUSH"), at("FMNMX"));
  EXPECT_EQ(starting_with(last, "UTMASTG"), 1);
  EXPECT_EQ(starting_with(last, "UTMACMDFLUSH"), 0);
  const auto& other = std::get<traces::Loop>(role(kernel, "consumer0").body.at(1)).body;
  EXPECT_EQ(starting_with(std::get<traces::Block>(other.front()).code, "UTMACMDFLUSH"), 0);
}

// In the compiled 8-bit kernels (July 2024), all of O's shrinking lies between the first and the last exponential of the scores. At
// head_dim 256 without a mask the turn is over behind the 14th, elsewhere before the first.
TEST(FlashAttention3Order, EightBitOutputsShrinkAmongTheExponentials) {
  struct Case {
    configs::FlashAttention3 attention;
    size_t loop;
    int outputs;
    int exponentials_in_turn;
  };
  for (Case each : {Case{attention(1, 8, 4096, 256), 0, 128, 14}, Case{causal(1, 8, 4096, 256), 1, 128, 0},
                    Case{attention(1, 8, 4096, 128), 0, 64, 0}}) {
    each.attention.mutable_shape()->set_type(configs::FP8);
    const traces::Kernel kernel = make(each.attention);
    SCOPED_TRACE(kernel.source);
    const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", each.loop);
    const auto is_exponential = [](const isa::Instruction& instruction) { return instruction.mnemonic == "MUFU.EX2"; };
    auto first = std::ranges::find_if(code, is_exponential);
    std::advance(first, 1);
    first = std::find_if(first + 1, code.end(), is_exponential);  // behind the two of the rescaling
    const auto last = std::find_if(code.rbegin(), code.rend(), is_exponential).base();
    const std::vector<isa::Instruction> between(first, last);
    EXPECT_EQ(starting_with(between, "FMUL"), each.outputs);
    EXPECT_EQ(starting_with(code, "FMUL"), each.outputs + 4);
    const auto over =
        std::ranges::find_if(code, [](const isa::Instruction& arrival) { return arrival.mnemonic.starts_with("BAR.ARV"); });
    EXPECT_EQ(std::count_if(first, std::max(first, over), is_exponential), each.exponentials_in_turn);
  }
}

size_t place_of(const std::vector<isa::Instruction>& code, const std::string& mnemonic, const std::string& text, size_t from = 0) {
  const auto found =
      std::find_if(code.begin() + static_cast<ptrdiff_t>(from), code.end(), [&](const isa::Instruction& instruction) {
        return instruction.mnemonic.starts_with(mnemonic) &&
               std::ranges::any_of(instruction.operands, [&](const isa::Operand& operand) { return operand.text == text; });
      });
  return static_cast<size_t>(found - code.begin());
}

// The disassembled first release: how many row maxima and exponentials (two of them of the rescaling) stand between the wait for
// the scores and the wait for the products of the block before.
TEST(FlashAttention3Order, WaitsForProductsWhereTheCompilerHasIt) {
  struct Case {
    configs::FlashAttention3 attention;
    size_t loop;
    int maxima;
    int exponentials;
  };
  const Case cases[] = {{attention(4, 32, 4096, 64), 0, 0, 0},
                        {attention(2, 16, 8192, 128), 0, 92, 2 + 2},
                        {causal(2, 16, 8192, 128), 1, 68, 2 + 2},
                        {causal(2, 16, 8192, 128), 0, 68, 2 + 53},
                        {attention(4, 8, 4096, 256), 0, 44, 2 + 15}};
  for (const Case& each : cases) {
    const traces::Kernel kernel = make(each.attention);
    SCOPED_TRACE(kernel.source);
    const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", each.loop);
    const size_t scores = place_of(code, "WARPGROUP.DEPBAR", "0x1");
    const size_t products = place_of(code, "WARPGROUP.DEPBAR", "0x0", scores);
    ASSERT_LT(products, code.size());
    const std::vector<isa::Instruction> between(code.begin() + static_cast<ptrdiff_t>(scores),
                                                code.begin() + static_cast<ptrdiff_t>(products));
    EXPECT_EQ(starting_with(between, "FMNMX"), each.maxima);
    EXPECT_EQ(starting_with(between, "MUFU.EX2"), each.exponentials);
    EXPECT_EQ(starting_with(between, "F2FP"), 0);  // the products still read P
  }
}

// A block of the compiled kernel without overlap (fp16, head_dim 128, CUDA 12.4). The first row's exponentials begin while the
// second row's maximum is exchanged, and O shrinks among them. The keys are released behind the maxima. The wait for V is among the
// exponentials, and the turn is over before the wait for the scores.
TEST(FlashAttention3Order, WithoutOverlapTheFirstRowGoesAhead) {
  configs::FlashAttention3 plain = attention(2, 16, 8192, 128);
  plain.set_intra_warpgroup_overlap(false);
  const traces::Kernel kernel = make(plain);
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", 0);
  const auto part = [&](size_t from, size_t to) {
    return std::vector<isa::Instruction>(code.begin() + static_cast<ptrdiff_t>(from), code.begin() + static_cast<ptrdiff_t>(to));
  };
  const auto at = [&](const std::string& mnemonic, size_t from = 0) {
    const auto found = std::find_if(code.begin() + static_cast<ptrdiff_t>(from), code.end(),
                                    [&](const isa::Instruction& each) { return each.mnemonic.starts_with(mnemonic); });
    return static_cast<size_t>(found - code.begin());
  };
  const size_t turn_over = at("BAR.ARV");
  const size_t scores = at("WARPGROUP.DEPBAR");
  EXPECT_LT(turn_over, scores);
  const size_t release = at("SYNCS.ARRIVE", scores);
  const size_t first = at("MUFU.EX2", scores);
  EXPECT_EQ(starting_with(part(scores, release), "FMNMX"), 88 + 2);
  EXPECT_LT(release, first);
  const size_t second_row = place_of(code, "MUFU.EX2", "R9");  // shrinking of the second row
  EXPECT_EQ(starting_with(part(first, second_row), "MUFU.EX2"), 1 + 12);
  EXPECT_EQ(starting_with(part(first, second_row), "SHFL"), 2);
  const size_t turn = at("BAR.SYNC");
  const size_t look = at("SYNCS.PHASECHK", release);
  EXPECT_EQ(starting_with(part(first, look), "MUFU.EX2"), 2 + 24);
  EXPECT_EQ(starting_with(part(first, turn), "MUFU.EX2"), 2 + 88);
  EXPECT_EQ(starting_with(part(first, turn), "FMUL"), 64 + 2);
  EXPECT_EQ(starting_with(part(0, first), "FMUL"), 2);
  EXPECT_EQ(starting_with(part(turn, code.size()), "HGMMA"), 11);
}

// Without overlap a block's values are asked for behind its own keys, with overlap behind the next block's.
TEST(FlashAttention3Order, WithoutOverlapValuesFollowTheirKeys) {
  for (const bool overlap : {true, false}) {
    configs::FlashAttention3 all = attention(2, 16, 8192, 128);
    all.set_intra_warpgroup_overlap(overlap);
    const traces::Kernel kernel = make(all);
    SCOPED_TRACE(overlap);
    const auto& tile = std::get<traces::Loop>(role(kernel, "producer").body.at(1)).body;
    const auto loads = [&](const traces::Node& node) { return starting_with(std::get<traces::Block>(node).code, "UTMALDG"); };
    EXPECT_EQ(loads(tile.front()), overlap ? 4 : 6);  // boxes of Q and K0; and V0
    EXPECT_EQ(loads(tile.back()), overlap ? 2 : 0);
    EXPECT_EQ(bytes_by_stream(kernel).at("V"), 32ULL * 64 * 47 * 176 * 128 * 2);
  }
}

// Compiled so (CUDA 12.4): O shrinks before the second step of the scores, the products are waited for behind seven exponentials
// and the two of the shrinking.
TEST(FlashAttention3Order, ConsumersThatLoadShrinkOutputsBesideTheFirstScores) {
  configs::FlashAttention3 all = attention(2, 16, 8192, 128);
  all.set_warp_specialized(false);
  const traces::Kernel kernel = make(all);
  EXPECT_EQ(kernel.cluster_ctas, 2);
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer1", 0);
  std::vector<int> shrunk = {0};
  for (const isa::Instruction& each : code) {
    if (each.mnemonic.starts_with("HGMMA")) shrunk.push_back(0);
    if (each.mnemonic.starts_with("FMUL") && shrunk.size() <= 8) ++shrunk.back();
  }
  EXPECT_EQ(shrunk[0], 13);
  EXPECT_EQ(shrunk[1], 51);
  EXPECT_EQ(shrunk[2], 0);
  const size_t scores = place_of(code, "WARPGROUP.DEPBAR", "0x1");
  const size_t products = place_of(code, "WARPGROUP.DEPBAR", "0x0", scores);
  const std::vector<isa::Instruction> between(code.begin() + static_cast<ptrdiff_t>(scores),
                                              code.begin() + static_cast<ptrdiff_t>(products));
  EXPECT_EQ(starting_with(between, "MUFU.EX2"), 2 + 7);
}

// CUDA 12.4 spaces the exponentials of a warp by ten cycles, and adds each to its row's sum behind the next.
TEST(FlashAttention3Order, ExponentialsAreTenCyclesApart) {
  const traces::Kernel kernel = make(attention(2, 16, 8192, 128));
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", 0);
  int since = 0;
  int seen = 0;
  for (const isa::Instruction& instruction : code) {
    if (instruction.mnemonic == "MUFU.EX2") {
      EXPECT_TRUE(seen == 0 || since >= 10) << seen;
      since = 0;
      ++seen;
    }
    since += std::max<int>(1, instruction.control.stall);
  }
  EXPECT_EQ(seen, 90);
}

// Every warpgroup waits for all others' turns: three of them are 384 threads at a barrier.
TEST(FlashAttention3Order, TurnsAreOfAllWarpgroups) {
  const traces::Kernel kernel = make(attention(4, 32, 4096, 64));
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer1", 0);
  int waits = 0;
  int arrivals = 0;
  for (const isa::Instruction& instruction : code) {
    if (!instruction.mnemonic.starts_with("BAR.")) continue;
    EXPECT_EQ(instruction.effect.count, 384);
    (instruction.mnemonic.starts_with("BAR.SYNC") ? waits : arrivals) += 1;
  }
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(arrivals, 2);
}

}  // namespace
}  // namespace warpfold::workloads
