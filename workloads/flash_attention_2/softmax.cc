// Softmax and dropout of the forward pass, between the scores and the products with V.
#include <algorithm>
#include <array>

#include "workloads/flash_attention_2/forward.h"

namespace warpfold::workloads {
namespace {

constexpr std::string_view kKey = "c[0x0][0x198]";  // Philox key

}  // namespace

// Row maxima: over the thread's columns, then over the four threads of a row; and the factor that rescales older sums.
Lines FlashAttention2Forward::row_maxima(Part part) const {
  Lines lines;
  const uint32_t begin = part == Part::kFirst ? 1 : 0;  // without an old maximum the first two scores are compared
  for (uint32_t i = begin; i < 2 * columns(); ++i) {
    for (uint32_t row = 0; row < rows(); ++row) {
      const std::string maximum = r(fresh_maximum(row));
      const std::string old = begin == 0 ? r(at_.maximum + row) : r(score(row / 2, 0, row % 2, 0));
      const std::string& before = i == begin ? old : maximum;
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
  // A row without any key so far has the maximum -inf; 0 replaces it.
  each_row([&](uint32_t row) {
    return line({"FSETP.NEU.FTZ.AND P", immediate(2 + row), ", PT, ", r(fresh_maximum(row)), ", -INF , PT"});
  });
  each_row([&](uint32_t row) {
    return line({"FSEL ", r(scaled_maximum(row)), ", ", r(fresh_maximum(row)), ", RZ, P", immediate(2 + row)});
  });
  if (part != Part::kFirst) {
    each_row([&](uint32_t row) {
      return line({"FADD.FTZ ", r(correction(row)), ", ", r(at_.maximum + row), ", -", r(scaled_maximum(row))});
    });
    each_row([&](uint32_t row) { return line({"FMUL.FTZ ", r(correction(row)), ", ", r(correction(row)), ", ", kScale}); });
  }
  each_row([&](uint32_t row) { return line({"FMUL.FTZ ", r(scaled_maximum(row)), ", ", r(scaled_maximum(row)), ", ", kScale}); });
  if (part != Part::kFirst) {
    each_row([&](uint32_t row) { return line({"MUFU.EX2 ", r(correction(row)), ", ", r(correction(row))}); });
  }
  const uint32_t on_fma = counted_ ? 0 : moves_on_fma(plan_, variant());
  each_row([&](uint32_t row) {
    const std::string to = r(at_.maximum + row);
    const std::string from = r(fresh_maximum(row));
    return row < on_fma ? line({"IMAD.MOV.U32 ", to, ", RZ, RZ, ", from}) : line({"MOV ", to, ", ", from});
  });
  return lines;
}

// exp2(score x scale - maximum) of 16 rows and 32 keys, and their sum. MUFU runs a few results ahead of the additions.
Lines FlashAttention2Forward::exponentials(const Group& group, Part part) const {
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
      if (!counted_) lines.push_back({line({"FFMA.FTZ ", r(of), ", ", r(of), ", ", kScale, ", -", r(scaled_maximum(row))}), {}});
      lines.push_back({line({"MUFU.EX2 ", r(of), ", ", r(of)}), {}});
    }
    if (i < kAhead) continue;
    const auto& [of, row] = all[i - kAhead];
    const std::string sum = r(at_.sum + row);
    const bool first = group.keys == 0 && i - kAhead < kRows;
    if (part == Part::kFirst && group.keys == 0 && i - kAhead < 2 * kRows) {
      // The first block has no older sum: a row's first two exponentials are added.
      if (!first) lines.push_back({line({"FADD.FTZ ", sum, ", ", r(all[i - kAhead - kRows].first), ", ", r(of)}), {}});
      continue;
    }
    lines.push_back({first ? line({"FFMA.FTZ ", sum, ", ", sum, ", ", r(correction(row)), ", ", r(of)})
                           : line({"FADD.FTZ ", sum, ", ", sum, ", ", r(of)}),
                     {}});
  }
  return lines;
}

Lines FlashAttention2Forward::rescale() const {
  Lines lines;
  for (uint32_t i = 0; i < outputs(); ++i) {
    const uint32_t m = i / (plan_.head_dim() / 8 * 4);
    const std::string of = r(at_.output + i);
    lines.push_back({line({"FMUL.FTZ ", of, ", ", of, ", ", r(correction(2 * m + i / 2 % 2))}), {}});
  }
  return lines;
}

Lines FlashAttention2Forward::pack(const Group& group) const {
  Lines lines;
  const std::string mnemonic = pack_mnemonic(plan_);
  for (uint32_t i = 0; i < kPairs; ++i) {
    const uint32_t low = score(group.m, 4 * group.keys + i / 2, i % 2, 0);
    lines.push_back({line({mnemonic, " ", r(probabilities(group, i)), ", ", r(low + 1), ", ", r(low)}), {}});
  }
  return lines;
}

// One Philox call: four words, with one byte for each of 16 scores, compared with the threshold two at a time. All calls of a pass
// share a product of the first round, which does not depend on the rows. Two neighbouring calls share a word of the second round.
Lines FlashAttention2Forward::random_bits(uint32_t call) const {
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
  // The last round's low words take the place of c1 and c3.
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

// Sets the dropped probabilities of a group's packed pairs to zero.
Lines FlashAttention2Forward::keep(const Group& group) const {
  Lines lines;
  const uint32_t number = group.m * groups_of_row_block() + group.keys;
  for (uint32_t i = 0; i < kPairs; ++i) {
    const std::string of = r(probabilities(group, i));
    const std::string keep_mask = r(random(i));
    if (stored()) {
      // Two bits are shifted to the signs of their bytes; PRMT spreads each sign over half a register.
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

// Each score takes a comparison of its column with the row's last column, and a select. Without causality the last column is the
// same for all rows, so each column is compared once.
Lines FlashAttention2Forward::mask() const {
  Lines lines;
  uint32_t compared = 0;
  for (uint32_t n = 0; n < columns(); ++n) {
    for (uint32_t element = 0; element < 2; ++element) {
      for (uint32_t row = 0; row < rows(); ++row) {
        if (row == 0 || plan_.tiles.causal()) {
          ++compared;
          lines.push_back(
              {line({"ISETP.GE.AND P", immediate(compared % 7), ", PT, R3, ", immediate(8 * n + element), ", PT"}), {}});
        }
        const std::string of = r(score(row / 2, n, row % 2, element));
        lines.push_back({line({"FSEL ", of, ", ", of, ", -INF , P", immediate(compared % 7)}), {}});
      }
    }
  }
  return lines;
}

// The stores (or, with `back`, the loads) of a group's scores that the compiled code keeps in local memory. assumed: the scores
// whose exponentials come last are spilled, between the maxima and the exponentials. All spilled scores belong to the seven last of
// eight groups (66 of 112 at most).
Lines FlashAttention2Forward::spills(const Group& group, Part part, bool back) const {
  if (!counted_) return {};
  const uint32_t of_group = 2 * kPairs;
  const uint32_t groups = plan_.row_blocks() * groups_of_row_block();
  const uint32_t index = group.m * groups_of_row_block() + group.keys;
  const uint32_t after = (groups - 1 - index) * of_group;  // scores behind the group
  const uint32_t all = spilled_registers(plan_, part);
  const uint32_t count = index == 0 || all <= after ? 0 : std::min(of_group, all - after);
  Lines lines;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string of = r(score(group.m, 4 * group.keys + i / 4, i / 2 % 2, i % 2));
    const std::string at = line({"[R2+", immediate(4 * (after + i)), "]"});
    lines.push_back({back ? line({"LDL ", of, ", ", at}) : line({"STL ", at, ", ", of}), {}});
  }
  return lines;
}

// The exponentials limit this part (XU, FMA). Older outputs are rescaled and random bits are made between them. Row blocks follow
// one another, as in the library's loops, so that the products with V of the first block can overlap the exponentials of the last.
Lines FlashAttention2Forward::softmax(Part part) const {
  Lines lines = row_maxima(part);
  const Lines scaling = part == Part::kFirst ? Lines{} : rescale();
  const uint32_t groups = plan_.row_blocks() * groups_of_row_block();
  const auto share = [&](uint32_t i) { return scaling.begin() + static_cast<ptrdiff_t>(scaling.size() * i / groups); };
  const auto group_of = [this](uint32_t i) { return Group{i / groups_of_row_block(), i % groups_of_row_block()}; };
  // At head_dim 64 compiled code has nearly all multiply-adds of a block before the exponentials. The order at other head
  // dimensions was not read.
  if (counted_) {
    for (uint32_t i = 0; i < scores(); ++i) {
      const uint32_t row = i / (columns() * 4) * 2 + i / 2 % 2;
      const std::string of = r(at_.scores + i);
      lines.push_back({line({"FFMA.FTZ ", of, ", ", of, ", ", kScale, ", -", r(scaled_maximum(row))}), {}});
    }
  }
  for (uint32_t i = 0; i < groups; ++i) append(lines, spills(group_of(i), part, false));
  for (uint32_t i = 0; i < groups; ++i) {
    const Group group = group_of(i);
    Lines beside(share(i), share(i + 1));
    if (fused()) beside = interleave(random_bits(i), beside);
    if (i + 1 < groups) append(beside, spills(group_of(i + 1), part, true));
    append(lines, interleave(exponentials(group, part), beside));
    append(lines, pack(group));
    if (plan_.shape.dropout() != configs::NONE) append(lines, keep(group));
  }
  return lines;
}

}  // namespace warpfold::workloads
