// The forward pass, one warp: scores S = Q K^T in registers, softmax, O += P V. One pass of the loop is a block of keys.
//
// Which instructions a pass has is counted from compiled code (FlashAttention-2 @ head_dim 128, fp16, CUDA 13.0 ptxas, printed by
// nvdisasm; tests/workloads/data/flash_attention_2_counts.csv). Their order and registers are ours, with the dependences that
// the algorithm has. Matrix products, softmax and dropout scale with the tile by themselves: per score FMNMX, FFMA, MUFU, FADD and
// half an F2FP; per element of O an FMUL; per row two SHFL, two FMNMX, FADD, FFMA, two FMUL, MUFU, FSETP, FSEL, a move. What is
// left of the counts is address arithmetic and bookkeeping, in the table below, and does not scale: other head dimensions take the
// column of the dropout mode (assumed: the pointers to a block are as many). Spills (LDL, STL and moves of n64) stay with the tile
// in which they were counted, 128 x 64 at head_dim 128.
#include <algorithm>
#include <array>

#include "workloads/flash_attention_2_code.h"

namespace warpfold::workloads {
namespace {

constexpr std::string_view kKey = "c[0x0][0x198]";  // of Philox

// Where a warp keeps things. R0-R2 are scratch for addresses.
struct Registers {
  uint32_t counter = 3;
  uint32_t maximum, sum;      // of each row
  uint32_t q, k, v, copy_to;  // in shared memory
  uint32_t output, scores;
  uint32_t k_from, v_from, bits_from;  // global, pairs
  uint32_t bits, threshold;
  uint32_t ring, slots;  // fragments; during the softmax temporaries
};

// 16 rows x 32 keys: 16 scores of a thread, in eight pairs; what one Philox call makes bits for.
struct Group {
  uint32_t m;
  uint32_t keys;
};
constexpr uint32_t kPairs = 8;

class Forward {
 public:
  explicit Forward(const FlashAttention2Plan& plan) : plan_(plan) {
    RegisterAllocator registers(4);
    const auto take = [&registers](uint32_t count, uint32_t align = 1) { return registers.take(count, align); };
    at_.maximum = take(rows());
    at_.sum = take(rows());
    at_.q = take(1);
    at_.k = take(1);
    at_.v = take(1);
    at_.copy_to = take(1);
    at_.output = take(outputs(), 4);
    at_.scores = take(scores(), 4);
    at_.k_from = take(2, 2);
    at_.v_from = take(2, 2);
    if (stored()) at_.bits_from = take(2, 2);
    if (stored()) at_.bits = take(words(), 2);
    if (fused()) at_.threshold = take(1);
    const uint32_t wanted = std::max(2 * (plan.row_blocks() + plan.tile_keys / 16), 2 * plan.head_dim() / 16);
    at_.slots = std::min(wanted, registers.fragments_left());
    at_.ring = take(4 * at_.slots, 4);
  }

  std::vector<traces::Node> body() const {
    std::vector<traces::Node> body{prologue()};
    if (plan_.tiles.causal() || plan_.tiles.keys() % plan_.tile_keys != 0) {
      body.push_back(loop_of(masking(plan_, at_.scores, scores()), {.parameter = 1}));
      body.push_back(straight(Code(*plan_.architecture).add("NOP")));
    }
    body.push_back(loop_of(pass(), {.parameter = 0}));
    body.push_back(epilogue());
    connect(*plan_.architecture, body);
    return body;
  }

 private:
  bool stored() const { return plan_.shape.dropout() == configs::STORED_BITS; }
  bool fused() const { return plan_.shape.dropout() == configs::FUSED_PHILOX; }
  uint32_t rows() const { return 2 * plan_.row_blocks(); }  // of a thread
  uint32_t columns() const { return plan_.tile_keys / 8; }  // blocks of 8 keys
  uint32_t steps() const { return plan_.tile_keys / 16; }
  uint32_t scores() const { return plan_.row_blocks() * columns() * 4; }
  uint32_t outputs() const { return plan_.row_blocks() * plan_.head_dim() / 8 * 4; }
  uint32_t words() const { return scores() / 32; }  // of stored bits
  uint32_t key_copies() const { return plan_.tile_keys * plan_.head_dim() * 2 / kCopyBytes / plan_.warps; }
  uint32_t query_copies() const { return plan_.tile_queries * plan_.head_dim() * 2 / kCopyBytes / plan_.warps; }
  uint32_t score(uint32_t m, uint32_t n, uint32_t half, uint32_t element) const {
    return at_.scores + (m * columns() + n) * 4 + 2 * half + element;
  }
  uint32_t groups_of_row_block() const { return plan_.tile_keys / 32; }
  // Pair `i` of probabilities of a group, packed where the scores were: a fragment in the first four of eight registers.
  uint32_t probabilities(const Group& group, uint32_t i) const { return score(group.m, 4 * group.keys + i / 4 * 2, 0, 0) + i % 4; }
  // Temporaries of a row and of the random bits, in the ring's last slots: the first ones may already take fragments of V.
  uint32_t temporary(uint32_t i) const { return at_.ring + 4 * at_.slots - 1 - i; }
  uint32_t fresh_maximum(uint32_t row) const { return temporary(row); }
  uint32_t other(uint32_t row) const { return temporary(rows() + row); }
  uint32_t scaled_maximum(uint32_t row) const { return temporary(2 * rows() + row); }
  uint32_t correction(uint32_t row) const { return temporary(3 * rows() + row); }
  uint32_t random(uint32_t i) const { return at_.ring + 4 * at_.slots - 4 * rows() - 16 + i; }

  CountedVariant variant() const {
    if (stored()) return CountedVariant::kStored;
    if (fused()) return CountedVariant::kFused;
    return plan_.head_dim() == 128 && plan_.tile_queries == 128 && plan_.tile_keys == 64 ? CountedVariant::kSpilled
                                                                                         : CountedVariant::kPlain;
  }
  WarpProduct score_product() const;
  WarpProduct output_product() const;
  Lines row_maxima() const;
  Lines exponentials(const Group& group) const;
  Lines rescale() const;
  Lines random_bits(uint32_t call) const;
  Lines keep(const Group& group) const;
  Lines pack(const Group& group) const;
  Lines softmax() const;
  Code pass() const;
  traces::Block prologue() const;
  traces::Block epilogue() const;

  const FlashAttention2Plan& plan_;
  Registers at_{};
};

WarpProduct Forward::score_product() const {
  WarpProduct product;
  product.blocks_m = plan_.row_blocks();
  product.blocks_n = columns();
  product.steps = plan_.head_dim() / 16;
  product.accumulators = at_.scores;
  product.fresh = true;
  const uint32_t of_q = 2 * product.blocks_m;
  product.a = {at_.ring, of_q, at_.q, false};
  product.b = {at_.ring + 4 * of_q, std::min(at_.slots - of_q, columns()), at_.k, false};
  return product;
}

WarpProduct Forward::output_product() const {
  WarpProduct product;
  product.blocks_m = plan_.row_blocks();
  product.blocks_n = plan_.head_dim() / 8;
  product.steps = steps();
  product.accumulators = at_.output;
  product.a = {at_.scores, 0, 0, false};
  product.a_stride = 8;
  product.b = {at_.ring, at_.slots, at_.v, true};
  return product;
}

// Row maxima over the thread's columns, then over the four threads of a row; the factor by which older sums shrink.
Lines Forward::row_maxima() const {
  Lines lines;
  for (uint32_t i = 0; i < 2 * columns(); ++i) {
    for (uint32_t row = 0; row < rows(); ++row) {
      const std::string maximum = r(fresh_maximum(row));
      const std::string before = i == 0 ? r(at_.maximum + row) : maximum;
      lines.push_back({line({"FMNMX.FTZ ", maximum, ", ", r(score(row / 2, i / 2, row % 2, i % 2)), ", ", before, ", !PT"}), {}});
    }
  }
  for (const std::string_view distance : {"0x2", "0x1"}) {
    for (uint32_t row = 0; row < rows(); ++row) {
      lines.push_back({line({"SHFL.BFLY PT, ", r(other(row)), ", ", r(fresh_maximum(row)), ", ", distance, ", 0x1f"}), {}});
    }
    for (uint32_t row = 0; row < rows(); ++row) {
      const std::string maximum = r(fresh_maximum(row));
      lines.push_back({line({"FMNMX.FTZ ", maximum, ", ", maximum, ", ", r(other(row)), ", !PT"}), {}});
    }
  }
  const auto each_row = [&](auto&& text) {
    for (uint32_t row = 0; row < rows(); ++row) lines.push_back({text(row), {}});
  };
  // A row without any key yet has the maximum -inf, for which 0 is taken.
  each_row([&](uint32_t row) {
    return line({"FSETP.NEU.FTZ.AND P", immediate(2 + row), ", PT, ", r(fresh_maximum(row)), ", -INF , PT"});
  });
  each_row([&](uint32_t row) {
    return line({"FSEL ", r(scaled_maximum(row)), ", ", r(fresh_maximum(row)), ", RZ, P", immediate(2 + row)});
  });
  each_row([&](uint32_t row) {
    return line({"FADD.FTZ ", r(correction(row)), ", ", r(at_.maximum + row), ", -", r(scaled_maximum(row))});
  });
  each_row([&](uint32_t row) { return line({"FMUL.FTZ ", r(correction(row)), ", ", r(correction(row)), ", ", kScale}); });
  each_row([&](uint32_t row) { return line({"FMUL.FTZ ", r(scaled_maximum(row)), ", ", r(scaled_maximum(row)), ", ", kScale}); });
  each_row([&](uint32_t row) { return line({"MUFU.EX2 ", r(correction(row)), ", ", r(correction(row))}); });
  const uint32_t on_fma = moves_on_fma(plan_, variant());
  each_row([&](uint32_t row) {
    const std::string to = r(at_.maximum + row);
    const std::string from = r(fresh_maximum(row));
    return row < on_fma ? line({"IMAD.MOV.U32 ", to, ", RZ, RZ, ", from}) : line({"MOV ", to, ", ", from});
  });
  return lines;
}

// exp2(score x scale - maximum) of 16 rows and 32 keys, and their sum. MUFU runs ahead of the additions by a few results.
Lines Forward::exponentials(const Group& group) const {
  constexpr size_t kAhead = 4;
  constexpr size_t kRows = 2;
  std::vector<std::pair<uint32_t, uint32_t>> all;  // register, row
  for (uint32_t n = 4 * group.keys; n < 4 * group.keys + 4; ++n) {
    for (uint32_t i = 0; i < 4; ++i) all.emplace_back(score(group.m, n, i % 2, i / 2), 2 * group.m + i % 2);
  }
  Lines lines;
  for (size_t i = 0; i < all.size() + kAhead; ++i) {
    if (i < all.size()) {
      const auto& [of, row] = all[i];
      lines.push_back({line({"FFMA.FTZ ", r(of), ", ", r(of), ", ", kScale, ", -", r(scaled_maximum(row))}), {}});
      lines.push_back({line({"MUFU.EX2 ", r(of), ", ", r(of)}), {}});
    }
    if (i < kAhead) continue;
    const auto& [of, row] = all[i - kAhead];
    const std::string sum = r(at_.sum + row);
    const bool first = group.keys == 0 && i - kAhead < kRows;
    lines.push_back({first ? line({"FFMA.FTZ ", sum, ", ", sum, ", ", r(correction(row)), ", ", r(of)})
                           : line({"FADD.FTZ ", sum, ", ", sum, ", ", r(of)}),
                     {}});
  }
  return lines;
}

Lines Forward::rescale() const {
  Lines lines;
  for (uint32_t i = 0; i < outputs(); ++i) {
    const uint32_t m = i / (plan_.head_dim() / 8 * 4);
    const std::string of = r(at_.output + i);
    lines.push_back({line({"FMUL.FTZ ", of, ", ", of, ", ", r(correction(2 * m + i / 2 % 2))}), {}});
  }
  return lines;
}

Lines Forward::pack(const Group& group) const {
  Lines lines;
  const std::string mnemonic = pack_mnemonic(plan_);
  for (uint32_t i = 0; i < kPairs; ++i) {
    const uint32_t low = score(group.m, 4 * group.keys + i / 2, i % 2, 0);
    lines.push_back({line({mnemonic, " ", r(probabilities(group, i)), ", ", r(low + 1), ", ", r(low)}), {}});
  }
  return lines;
}

// One Philox call: four words, a byte for each of 16 scores, compared with the threshold two at a time. A product of the first
// round is shared by all calls of a pass (it does not depend on the rows), a word of the second by two neighbours.
Lines Forward::random_bits(uint32_t call) const {
  Lines lines;
  const uint32_t word = random(8);   // c0..c3
  const uint32_t wide = random(12);  // two products
  const std::array<std::string, 4> c = {r(word), r(word + 1), r(word + 2), r(word + 3)};
  for (uint32_t round = 0; round < plan_.rounds; ++round) {
    if (round > 0) lines.push_back({line({"IMAD.WIDE.U32 ", r(wide), ", ", c[0], ", -0x326172a9, RZ"}), {}});
    lines.push_back({line({"IMAD.WIDE.U32 ", r(wide + 2), ", ", c[2], ", -0x2daee0ad, RZ"}), {}});
    lines.push_back({line({"LOP3.LUT ", c[0], ", ", r(wide + 3), ", ", c[1], ", ", kKey, ", 0x96, !PT"}), {}});
    if (round > 0 || call % 2 == 0) {
      lines.push_back({line({"LOP3.LUT ", c[2], ", ", r(wide + 1), ", ", c[3], ", ", kKey, ", 0x96, !PT"}), {}});
    }
  }
  // The last round's low words are c1 and c3.
  const std::array<std::string, 4> words = {c[0], r(wide + 2), c[2], r(wide)};
  const std::array<std::string, 3> bytes = {c[1], c[3], r(wide + 1)};
  for (uint32_t i = 0; i < 4; ++i) {
    for (uint32_t byte = 0; byte < 3; ++byte) {
      lines.push_back({line({"SHF.R.U32.HI ", bytes[byte], ", RZ, ", immediate(8 * (byte + 1)), ", ", words[i]}), {}});
    }
    for (const std::string& one : {words[i], bytes[0], bytes[1]}) {
      lines.push_back({line({"LOP3.LUT ", one, ", ", one, ", 0xff, RZ, 0xc0, !PT"}), {}});
    }
    for (uint32_t half = 0; half < 2; ++half) {
      const std::string keep_mask = r(random(2 * i + half));
      const std::string& low = half == 0 ? words[i] : bytes[1];
      const std::string& high = half == 0 ? bytes[0] : bytes[2];
      lines.push_back({line({"PRMT ", keep_mask, ", ", low, ", 0x5410, ", high}), {}});
      lines.push_back({line({"HSET2.LE.AND ", keep_mask, ", ", keep_mask, ", ", r(at_.threshold), ", PT"}), {}});
    }
  }
  return lines;
}

// The packed probabilities of a group, those dropped set to zero.
Lines Forward::keep(const Group& group) const {
  Lines lines;
  const uint32_t number = group.m * groups_of_row_block() + group.keys;
  for (uint32_t i = 0; i < kPairs; ++i) {
    const std::string of = r(probabilities(group, i));
    const std::string keep_mask = r(random(i));
    if (stored()) {
      // Two bits are moved to the signs of their bytes, which PRMT spreads over half a register each.
      const std::string bits = r(at_.bits + number / 2);
      const std::string moved = r(random(kPairs));
      const uint32_t shift = number % 2 * (kPairs / 2) + i / 2;
      if (i % 2 == 0 && shift > 0) {
        const bool on_fma = shift > (plan_.hopper() ? 5U : 4U);
        lines.push_back({on_fma ? line({"IMAD.SHL.U32 ", moved, ", ", bits, ", ", immediate(uint64_t{1} << shift), ", RZ"})
                                : line({"SHF.L.U32 ", moved, ", ", bits, ", ", immediate(shift), ", RZ"}),
                         {}});
      }
      const std::string& from = shift == 0 ? bits : moved;
      lines.push_back({line({"PRMT ", keep_mask, ", ", from, i % 2 == 0 ? ", 0x9988, " : ", 0xbbaa, ", from}), {}});
    }
    lines.push_back({line({"LOP3.LUT ", of, ", ", of, ", ", keep_mask, ", RZ, 0xc0, !PT"}), {}});
  }
  return lines;
}

// The exponentials bound it (XU, FMA); older outputs are scaled and random bits made between them. Row blocks one after the other,
// as the library's loops have it, so that the products with V of the first can start beside the exponentials of the last.
Lines Forward::softmax() const {
  Lines lines = row_maxima();
  const Lines scaling = rescale();
  const uint32_t groups = plan_.row_blocks() * groups_of_row_block();
  const auto share = [&](uint32_t i) { return scaling.begin() + static_cast<ptrdiff_t>(scaling.size() * i / groups); };
  for (uint32_t i = 0; i < groups; ++i) {
    const Group group{i / groups_of_row_block(), i % groups_of_row_block()};
    Lines beside(share(i), share(i + 1));
    if (fused()) beside = interleave(random_bits(i), beside);
    append(lines, interleave(exponentials(group), beside));
    append(lines, pack(group));
    if (plan_.shape.dropout() != configs::NONE) append(lines, keep(group));
  }
  return lines;
}

Code Forward::pass() const {
  const ProductLines scores = lines_of(score_product());
  const ProductLines output = lines_of(output_product());
  const Lines addresses = bookkeeping(plan_, variant());
  const auto middle = addresses.begin() + static_cast<ptrdiff_t>(addresses.size() / 2);

  Code code(*plan_.architecture);
  add_lines(code, copies_arrived(plan_));  // K
  Lines lines = interleave(async_copies(at_.copy_to, at_.v_from, kStreamV, key_copies(), kCopyBytes), {addresses.begin(), middle});
  if (stored()) {
    const std::string width = words() == 2 ? "LDG.E.64.CONSTANT " : "LDG.E.CONSTANT ";
    lines.push_back({line({width, r(at_.bits), ", [", r(at_.bits_from), ".64]"}), {.bytes = words() * 128, .stream = kStreamBits}});
  }
  append(lines, scores.first_loads);
  add_scheduled(code, append(lines, scores.products));
  add_lines(code, copies_arrived(plan_));                      // V
  code.add("ISETP.GT.AND P0, PT, R3, RZ, PT").add("BRA 0x0");  // round the prefetch, not taken
  lines = interleave(async_copies(at_.copy_to, at_.k_from, kStreamK, key_copies(), kCopyBytes), {middle, addresses.end()});
  append(lines, softmax());
  append(lines, output.first_loads);
  add_scheduled(code, append(lines, output.products));
  return code.add("@P0 BRA 0x0");
}

traces::Block Forward::prologue() const {
  Code code(*plan_.architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("S2R R2, SR_CTAID.Y").add("ULDC.64 UR4, c[0x0][0x160]");
  code.add("ULDC.64 UR6, c[0x0][0x168]")
      .add("IMAD R0, R1, 0x80, R0")
      .add("IMAD R2, R2, 0x200, R0")
      .add("IMAD.SHL.U32 R3, R0, 0x10, RZ");
  for (const uint32_t address : {at_.q, at_.k, at_.v, at_.copy_to}) code.add(line({"IADD3 ", r(address), ", R3, 0x800, RZ"}));
  for (const uint32_t pointer : {at_.k_from, at_.v_from, stored() ? at_.bits_from : at_.k_from}) {
    code.add(line({"IMAD.MOV.U32 ", r(pointer), ", RZ, RZ, UR4"})).add(line({"IMAD.MOV.U32 ", r(pointer + 1), ", RZ, RZ, UR5"}));
    code.add(line({"IMAD.WIDE.U32 ", r(pointer), ", R2, 0x10, ", r(pointer)}));
  }
  if (fused()) code.add(line({"MOV ", r(at_.threshold), ", c[0x0][0x1a0]"}));
  add_lines(code, async_copies(at_.copy_to, at_.k_from, kStreamQ, query_copies(), kCopyBytes));
  // The first block of K. A pass of the loop fetches the block that the next one needs, the last pass one that is not there: the
  // bytes of the launch are counted there, and this copy has only its latency.
  add_lines(code, async_copies(at_.copy_to, at_.k_from, kStreamK, key_copies(), 0));
  for (uint32_t i = 0; i < outputs(); i += 2) code.add(line({"CS2R ", r(at_.output + i), ", SRZ"}));
  for (uint32_t i = 0; i < scores(); i += 2) code.add(line({"CS2R ", r(at_.scores + i), ", SRZ"}));
  for (uint32_t row = 0; row < rows(); ++row) {
    code.add(line({"MOV ", r(at_.maximum + row), ", 0xff800000"})).add(line({"MOV ", r(at_.sum + row), ", RZ"}));
  }
  code.add("NOP");
  return straight(code);
}

// Sums over the four threads of a row, O / sum, through shared memory so that rows are stored whole; Q's place is taken.
traces::Block Forward::epilogue() const {
  Code code(*plan_.architecture);
  for (const std::string_view distance : {"0x2", "0x1"}) {
    for (uint32_t row = 0; row < rows(); ++row) {
      code.add(line({"SHFL.BFLY PT, ", r(other(row)), ", ", r(at_.sum + row), ", ", distance, ", 0x1f"}));
    }
    for (uint32_t row = 0; row < rows(); ++row) {
      code.add(line({"FADD.FTZ ", r(at_.sum + row), ", ", r(at_.sum + row), ", ", r(other(row))}));
    }
  }
  for (uint32_t row = 0; row < rows(); ++row) code.add(line({"MUFU.RCP ", r(correction(row)), ", ", r(at_.sum + row)}));
  add_lines(code, rescale());
  for (uint32_t i = 0; i < outputs(); i += 2) {
    const std::string low = r(at_.output + i);
    code.add(line({pack_mnemonic(plan_), " ", low, ", ", r(at_.output + i + 1), ", ", low}));
  }
  for (uint32_t i = 0; i < outputs(); i += 2) {
    code.add(line({"STS [", r(at_.q), "+", immediate(i * 64), "], ", r(at_.output + i)}));
  }
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan_.threads())});
  const uint32_t stores = query_copies();
  for (uint32_t i = 0; i < stores; ++i) {
    code.add(line({"LDS.128 ", r(at_.output + 4 * i), ", [", r(at_.q), "+", immediate(i * 512), "]"}));
  }
  for (uint32_t i = 0; i < stores; ++i) {
    code.add(line({"STG.E.128 [", r(at_.k_from), ".64+", immediate(i * 512), "], ", r(at_.output + 4 * i)}),
             {.bytes = kCopyBytes, .stream = kStreamO});
  }
  code.add("EXIT");
  return straight(code);
}

}  // namespace

std::vector<traces::Node> flash_attention_2_forward_body(const FlashAttention2Plan& plan) { return Forward(plan).body(); }

}  // namespace warpfold::workloads
