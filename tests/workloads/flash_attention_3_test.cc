#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/flash_attention_3.h"
#include "workloads/flash_attention_3/flash_attention_3.h"

namespace warpfold::workloads {
namespace {

using testing::HasSubstr;

std::string error_of(const configs::FlashAttention3& attention, const std::string& on = "h100_sxm") {
  return make_flash_attention_3(attention, gpu(on)).error().message;
}

using Counts = std::map<std::string, int>;

// Groups instructions by the pipe that bounds them: the pipes of the counted tables, in which IMAD and VIADD are one class and FP32
// another.
Counts by_class(const traces::Kernel& kernel, const std::vector<isa::Instruction>& code) {
  Counts counts;
  for (const isa::Instruction& instruction : code) {
    const isa::OpcodeInfo& info = architecture_of(kernel).info(instruction);
    const bool mbarrier = instruction.mnemonic.starts_with("SYNCS");
    const bool bulk = instruction.mnemonic.starts_with("UTMA");
    const std::string name = mbarrier                          ? "mbarrier"
                             : bulk                            ? "tma"
                             : info.pipe == isa::Pipe::kMemory ? "lsu"
                             : info.pipe == isa::Pipe::kNone   ? "control"
                                                               : std::string(isa::pipe_name(info.pipe));
    ++counts[name];
  }
  return counts;
}

struct Mix {
  std::string name;
  configs::FlashAttention3 attention;
  size_t loop;  // of the consumer
  int total;
  Counts counts;  // of whole opcodes' beginnings
};

configs::FlashAttention3 with_dropout(configs::Dropout dropout, uint32_t rounds = 7) {
  configs::FlashAttention3 all = attention(2, 16, 8192, 128);
  all.mutable_shape()->set_dropout(dropout);
  all.mutable_shape()->set_philox_rounds(rounds);
  return all;
}

class CountedMix : public testing::TestWithParam<Mix> {};

// Per key block and warp: arithmetic instructions are as counted exactly, all instructions within 3 %.
TEST_P(CountedMix, IsThatOfTheDisassembly) {
  const traces::Kernel kernel = make(GetParam().attention);
  const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", GetParam().loop);
  for (const auto& [prefix, count] : GetParam().counts) EXPECT_EQ(starting_with(code, prefix), count) << prefix;
  EXPECT_NEAR(static_cast<double>(code.size()), GetParam().total, 0.03 * GetParam().total);
}

const Counts kOf176 = {{"HGMMA.64x176x16", 8}, {"HGMMA.64x128x16", 11}, {"FFMA", 90}, {"FMUL", 68}, {"FADD", 88},
                       {"FMNMX", 92},          {"MUFU.EX2", 90},        {"F2FP", 44}, {"SHFL", 4},  {"BAR.", 2},
                       {"SYNCS.", 6},          {"WARPGROUP.", 4}};
const Counts kOf128 = {{"HGMMA.64x128x16", 16},
                       {"FFMA", 66},
                       {"FMUL", 68},
                       {"FADD", 64},
                       {"FMNMX", 68},
                       {"MUFU.EX2", 66},
                       {"F2FP", 32},
                       {"SHFL", 4},
                       {"BAR.", 2},

                       {"SYNCS.", 6}};

Counts with(Counts counts, const Counts& more) {
  counts.insert(more.begin(), more.end());
  for (const auto& [prefix, count] : more) counts[prefix] = count;
  return counts;
}

// fa3_fwd_hdim128 and fa3_fwd_hdim128_grafted, sm_90a, CUDA 13.0. Philox: four calls a thread.
INSTANTIATE_TEST_SUITE_P(FlashAttention3, CountedMix,
                         testing::Values(Mix{"Keys176", attention(2, 16, 8192, 128), 0, 594, kOf176},
                                         Mix{"CausalMasked", causal(2, 16, 8192, 128), 0, 616,
                                             with(kOf128, {{"FSEL", 68}, {"FSETP", 2}})},
                                         Mix{"CausalWhole", causal(2, 16, 8192, 128), 1, 469, kOf128},
                                         Mix{"StoredBits", with_dropout(configs::STORED_BITS), 0, 569,
                                             with(kOf128, {{"LDG.E.64", 1}, {"PRMT", 34}, {"LOP3", 32}})},
                                         Mix{"Philox3", with_dropout(configs::FUSED_PHILOX, 3), 0, 615,
                                             with(kOf128, {{"IMAD.WIDE", 11}, {"HSET2", 26}, {"LOP3", 54}})},
                                         Mix{"Philox5", with_dropout(configs::FUSED_PHILOX, 5), 0, 697,
                                             with(kOf128, {{"IMAD.WIDE", 27}, {"HSET2", 32}, {"LOP3", 72}})},
                                         Mix{"Philox7", with_dropout(configs::FUSED_PHILOX, 7), 0, 765,
                                             with(kOf128, {{"IMAD.WIDE", 43}, {"HSET2", 32}, {"LOP3", 88}})},
                                         Mix{"Philox10", with_dropout(configs::FUSED_PHILOX, 10), 0, 867,
                                             with(kOf128, {{"IMAD.WIDE", 67}, {"HSET2", 32}, {"LOP3", 112}})}),
                         [](const auto& mix) { return mix.param.name; });

// A call of 128 bits serves four scores: 16 calls of seven rounds as in the compiled kernel with 32-bit thresholds, and a
// comparison for each score.
TEST(FlashAttention3, DrawsThirtyTwoBitsAScoreWhereAsked) {
  for (const configs::ElementType type : {configs::BF16, configs::FP8}) {
    configs::FlashAttention3 all = with_dropout(configs::FUSED_PHILOX);
    all.mutable_shape()->set_type(type);
    all.mutable_shape()->set_threshold_bits(32);
    const traces::Kernel kernel = make(all);
    const std::vector<isa::Instruction>& code = loop_body(kernel, "consumer0", 0);
    EXPECT_EQ(starting_with(code, "IMAD.WIDE.U32"), 16 * 14);
    EXPECT_EQ(starting_with(code, "LOP3.LUT"), 16 * 14);
    EXPECT_EQ(starting_with(code, "VIADD"), 16 * 2 + 1);  // one counts key blocks
    EXPECT_EQ(starting_with(code, "ISETP.LE.U32"), 64);
    EXPECT_EQ(starting_with(code, "HSET2"), 0);
  }
}

// Counted for K and V together: 89, of them a load of a page table, which is left out.
TEST(FlashAttention3, ProducerHasTheCountedMix) {
  const traces::Kernel kernel = make(attention(2, 16, 8192, 128));
  const std::vector<isa::Instruction>& code = loop_body(kernel, "producer", 0);
  EXPECT_NEAR(static_cast<double>(code.size()), 89, 3);
  const Counts counts = by_class(kernel, code);
  EXPECT_EQ(counts.at("tma"), 4);
  EXPECT_EQ(counts.at("mbarrier"), 4);
}

uint64_t wgmma_columns(const traces::Kernel& kernel) {
  uint64_t columns = 0;
  for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t times) {
    if (!instruction.mnemonic.starts_with("HGMMA.64x") && !instruction.mnemonic.starts_with("QGMMA.64x")) return;
    columns += times * std::stoul(instruction.mnemonic.substr(9));
  });
  return columns;
}

// Both products of a block are computed whole, and once: 2 x 64 x columns x k a warpgroup's wgmma, that is a quarter of it a warp.
TEST(FlashAttention3, ComputesWhatTheTilesSay) {
  struct Case {
    configs::FlashAttention3 attention;
    uint64_t tile_products;  // queries x keys of all tiles of all heads
    uint64_t k;              // of a wgmma
  };
  configs::FlashAttention3 eight_bit = attention(4, 16, 4096, 128);
  eight_bit.mutable_shape()->set_type(configs::FP8);
  const Case cases[] = {
      {attention(2, 16, 8192, 128), 32ULL * 8192 * 47 * 176, 16},
      {attention(4, 32, 4096, 64), 128ULL * 22 * 192 * 4096, 16},
      {attention(4, 8, 4096, 256), 32ULL * 4096 * 52 * 80, 16},
      {causal(4, 16, 4096, 128), 64ULL * 128 * 128 * (32 * 33 / 2), 16},
      {eight_bit, 64ULL * 4096 * 4096, 32},
  };
  for (const Case& each : cases) {
    const traces::Kernel kernel = make(each.attention);
    SCOPED_TRACE(kernel.source);
    const uint64_t flops = 2 * 64 * each.k * wgmma_columns(kernel) / 4;
    EXPECT_EQ(flops, 4 * each.tile_products * each.attention.shape().head_dim());
    EXPECT_GE(flops, kernel.flops);
  }
}

// Q is read and O written once, K and V once for every tile of queries.
TEST(FlashAttention3, MovesWhatTheShapeSays) {
  for (const bool specialized : {true, false}) {
    configs::FlashAttention3 all = attention(4, 16, 4224, 128);  // 24 whole blocks of 176 keys, 33 tiles of 128 queries
    all.set_warp_specialized(specialized);
    const traces::Kernel kernel = make(all);
    SCOPED_TRACE(specialized);
    const auto bytes = bytes_by_stream(kernel);
    const uint64_t head = 4224ULL * 128 * 2;
    EXPECT_EQ(bytes.at("Q"), 64 * head);
    EXPECT_EQ(bytes.at("O"), 64 * head);
    EXPECT_EQ(bytes.at("K"), 64 * 33 * head);
    EXPECT_EQ(bytes.at("V"), 64 * 33 * head);
    EXPECT_EQ(kernel.streams[1].dram_denominator, 33);
  }
}

TEST(FlashAttention3, SharesKeysAmongTheHeadsOfAGroup) {
  configs::FlashAttention3 all = attention(1, 64, 4224, 128);
  all.mutable_shape()->set_kv_heads(8);
  const traces::Kernel kernel = make(all);
  EXPECT_EQ(bytes_by_stream(kernel).at("K"), 64ULL * 33 * 4224 * 128 * 2);
  EXPECT_EQ(kernel.streams[1].dram_denominator, 33ULL * 8);
}

TEST(FlashAttention3, ReadsOneBitAScoreWhereTheyAreStored) {
  const traces::Kernel kernel = make(with_dropout(configs::STORED_BITS));
  EXPECT_EQ(bytes_by_stream(kernel).at("mask"), 32ULL * 8192 * 8192 / 8);
}

uint64_t parameter(const traces::Kernel& kernel, const traces::CtaClass& cta_class, const std::string& name) {
  const auto found = std::ranges::find(kernel.parameters, name);
  return cta_class.values.at(static_cast<size_t>(found - kernel.parameters.begin()));
}

// 512 heads of four tiles, 1 to 4 blocks long: CTAs stay, one an SM, and share all of them. Behind a tile's first block one more is
// masked, whether or not the diagonal cuts it.
TEST(FlashAttention3, CausalCtasStayAndDrawTiles) {
  const traces::Kernel kernel = make(causal(32, 16, 512, 128));
  EXPECT_EQ(kernel.ctas(), 132);
  uint64_t tiles = 0;
  uint64_t blocks = 0;
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  for (size_t c = 0; c < ctas.size(); ++c) {
    for (size_t length = 0; length < kernel.parameters.size() / 4; ++length) {
      const auto of = [&](const std::string& name) {
        return parameter(kernel, kernel.cta_classes[c], name + std::to_string(length));
      };
      EXPECT_EQ(of("masked") + of("full"), of("more"));
      EXPECT_EQ(of("masked"), std::min<uint64_t>(of("more"), 1));
      tiles += ctas[c] * of("tiles");
      blocks += ctas[c] * of("tiles") * (1 + of("more"));
    }
  }
  EXPECT_EQ(tiles, 512 * 4);
  EXPECT_EQ(blocks, 512 * (1 + 2 + 3 + 4));
}

// Each role has a loop over tiles for each of their lengths, with the setup in front of all loops.
TEST(FlashAttention3, CausalRolesGoRoundTheirTiles) {
  const traces::Kernel kernel = make(causal(32, 16, 512, 128));
  for (const std::string name : {"producer", "consumer0", "consumer1"}) {
    SCOPED_TRACE(name);
    const std::vector<traces::Node>& body = role(kernel, name).body;
    const auto loops =
        std::ranges::count_if(body, [](const traces::Node& node) { return std::holds_alternative<traces::Loop>(node); });
    EXPECT_EQ(static_cast<size_t>(loops), kernel.parameters.size() / 4);
    const auto& entry = std::get<traces::Block>(body.front()).code;
    EXPECT_EQ(starting_with(entry, "USETMAXREG"), 1);
    EXPECT_EQ(starting_with(entry, "UTMALDG"), 0);
  }
}

TEST(FlashAttention3, KeepsItsRegistersAndMemory) {
  const traces::Kernel two = make(attention(2, 16, 8192, 128));
  EXPECT_EQ(two.registers_per_thread, 168);
  EXPECT_EQ(two.warps_per_cta(), 12);
  EXPECT_EQ(two.shared_memory_bytes, 1024 + 128 * 256 + 4 * 176 * 256);
  EXPECT_EQ(two.cluster_ctas, 2);
  const traces::Kernel three = make(attention(4, 32, 4096, 64));
  EXPECT_EQ(three.registers_per_thread, 128);
  EXPECT_EQ(three.warps_per_cta(), 16);
}

TEST(FlashAttention3, SaysWhatItCannotDo) {
  EXPECT_THAT(error_of(attention(1, 1, 512, 128), "a100_sxm"), HasSubstr("needs a GPU of architecture sm_90, this one is sm_80"));
  configs::FlashAttention3 all = with_dropout(configs::FUSED_PHILOX);
  all.mutable_shape()->set_type(configs::FP8);
  EXPECT_THAT(error_of(all), HasSubstr("type FP8 needs threshold_bits: 32"));
  all = attention(2, 16, 8192, 128);
  all.set_warp_specialized(false);
  all.set_pingpong(true);
  EXPECT_THAT(error_of(all), HasSubstr("pingpong needs warp_specialized: true"));
  all = causal(2, 16, 8192, 128);
  all.set_warp_specialized(false);
  EXPECT_THAT(error_of(all), HasSubstr("warp_specialized: false is the ablation"));
  all = attention(2, 16, 8192, 128);
  all.set_longest_first(true);
  EXPECT_THAT(error_of(all), HasSubstr("longest_first is an order of causal tiles"));
  all = causal(1, 1, 512, 128);
  all.mutable_shape()->set_keys(128);
  EXPECT_THAT(error_of(all), HasSubstr("causal with 128 keys for 512 queries leaves a tile of queries without keys"));
  configs::Gpu small = gpu("h100_sxm");
  small.mutable_sm()->mutable_shared_memory()->set_bytes_per_cta_max(200000);
  EXPECT_THAT(make_flash_attention_3(attention(2, 16, 8192, 128), small).error().message,
              HasSubstr("a 128 x 176 tile of head_dim 128 needs 214016 bytes of shared memory, a CTA may have 200000"));
}

}  // namespace
}  // namespace warpfold::workloads
