#include "workloads/flash_attention_2/code.h"

#include <array>

namespace warpfold::workloads {
namespace {

// Counts of compiled code (tests/workloads/data/flash_attention_2_counts.csv), minus the instructions that the generator emits
// elsewhere. Columns in the order of CountedVariant: nodrop_bn64, nodrop_bn32, mask1_bn32, drop7_bn32. R0-R2 are scratch.
struct Bookkeeping {
  std::string_view text;
  std::array<uint8_t, 4> sm_80;
  std::array<uint8_t, 4> sm_90;
};
constexpr Bookkeeping kAddresses[] = {
    {"IMAD R0, R3, 0x40, R1", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"IMAD.WIDE.U32 R0, R2, 0x2, RZ", {2, 2, 2, 2}, {2, 2, 2, 2}},
    {"SHF.R.S32.HI R1, RZ, 0x1f, R0", {2, 2, 2, 2}, {2, 2, 3, 2}},
    {"LEA R0, P1, R2, R0, 0x1", {4, 4, 6, 4}, {4, 4, 6, 4}},
    {"LEA.HI.X R1, R2, R0, R1, 0x1, P1", {4, 4, 6, 4}, {4, 4, 6, 4}},
    {"IADD3 R2, P1, R2, 0x40, RZ", {9, 5, 7, 4}, {9, 6, 5, 3}},
    {"IADD3.X R1, RZ, R1, RZ, P1, !PT", {6, 2, 2, 2}, {6, 2, 2, 2}},
    {"IMAD.IADD R0, R2, 0x1, R0", {1, 1, 0, 2}, {1, 0, 1, 2}},
    {"IMAD.X R1, RZ, RZ, R1, P1", {0, 0, 1, 0}, {0, 0, 1, 0}},
    {"PRMT R0, R0, 0x5410, R2", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"VIADD R0, R0, 0x1", {0, 0, 0, 0}, {0, 0, 1, 1}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 0, 0}, {0, 0, 0, 1}},
    {"S2R R0, SR_TID.X", {0, 0, 0, 0}, {0, 0, 1, 0}},
    {"MOV R0, R2", {6, 0, 0, 0}, {52, 0, 0, 0}},
    {"IMAD.MOV.U32 R1, RZ, RZ, R2", {2, 0, 0, 0}, {17, 0, 0, 1}},
    {"LDL R0, [R1+0x10]", {9, 0, 0, 0}, {12, 0, 0, 0}},
    {"LDL.64 R0, [R2+0x18]", {3, 0, 0, 0}, {3, 0, 0, 0}},
    {"STL [R1+0x10], R2", {0, 0, 0, 0}, {3, 0, 0, 0}},
    {"@!PT LDS RZ, [RZ]", {6, 6, 6, 6}, {6, 6, 6, 6}},  // reads without effect that ptxas places after cp.async
    {"@!PT CALL.REL.NOINC 0x0", {1, 1, 1, 1}, {0, 0, 0, 0}},
    {"NOP", {0, 0, 0, 0}, {1, 1, 1, 1}},
};

constexpr std::array<uint32_t, 4> kMovesOnFma80 = {0, 1, 1, 3};
constexpr std::array<uint32_t, 4> kMovesOnFma90 = {0, 0, 1, 4};

}  // namespace

Lines bookkeeping(const FlashAttention2Plan& plan, CountedVariant variant) {
  Lines lines;
  const auto column = static_cast<size_t>(variant);
  for (const Bookkeeping& one : kAddresses) {
    const uint32_t times = plan.hopper() ? one.sm_90.at(column) : one.sm_80.at(column);
    for (uint32_t i = 0; i < times; ++i) lines.push_back({std::string(one.text), {}});
  }
  return lines;
}

uint32_t moves_on_fma(const FlashAttention2Plan& plan, CountedVariant variant) {
  return (plan.hopper() ? kMovesOnFma90 : kMovesOnFma80).at(static_cast<size_t>(variant));
}

Lines async_copies(uint32_t to, uint32_t from, int16_t stream, uint32_t count, uint32_t bytes) {
  Lines lines;
  for (uint32_t i = 0; i < count; ++i) {
    lines.push_back({line({"LDGSTS.E.BYPASS.LTC128B.128 [", r(to), "+", immediate(i * 2048), "], [", r(from), ".64]"}),
                     {.bytes = bytes, .stream = bytes == 0 ? int16_t{-1} : stream, .l1_hit = bytes == 0}});
  }
  lines.push_back({"LDGDEPBAR", {.commit = true}});
  return lines;
}

Line cta_barrier(const FlashAttention2Plan& plan) {
  return {"BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan.threads())}};
}

Lines copies_arrived(const FlashAttention2Plan& plan) { return {{"DEPBAR.LE.LDGSTS SB0, 0x0", {.count = 0}}, cta_barrier(plan)}; }

Code masking(const FlashAttention2Plan& plan, uint32_t scores, uint32_t count) {
  Code code(*plan.architecture);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string predicate = line({"P", immediate(i % 4)});
    code.add(line({"ISETP.GE.AND ", predicate, ", PT, R0, ", immediate(i), ", PT"}));
    code.add(line({"FSEL ", r(scores + i), ", ", r(scores + i), ", -INF , ", predicate}));
  }
  code.add("BRA 0x0");
  return code;
}

}  // namespace warpfold::workloads
