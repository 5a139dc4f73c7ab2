// The eight compute warps of the backward pass. A thread has one key and half of the block's queries, 32 at a time.
//
//   S to registers | P = exp(S - log-sum-exp), to tensor memory | dP to registers | dS = P (dP - dot(O, dO)), to tensor memory for
//   dK and to shared memory for dQ
//
// P overwrites S and dS overwrites dP, and two warps share the lanes. All eight warps therefore meet at a barrier before either is
// overwritten and before stored results are announced: five times per block. With own_columns, each warp proceeds independently. A
// pair announces dS only after the next S has been read, because dQ overwrites S.
//
// For 64 scores: 32 packed scales and 64 exponentials, 32 packed differences and 32 packed products, 64 conversions. All lanes read
// the same log-sum-exp or dot(O, dO) of a query.
#include <functional>

#include "workloads/common/list_schedule.h"
#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4BackwardPlan;
using At = BackwardCursors;
using Ring = BackwardRings;

// Registers of a thread.
constexpr uint32_t kScores = 16;      // 64 scores, then P
constexpr uint32_t kRows = 80;        // 32: log-sum-exp; then dP; then dS, packed in place of its floats
constexpr uint32_t kPacked = 112;     // 16: P; later dot(O, dO), 16 of 32 at a time
constexpr uint32_t kRowsAtATime = 4;  // per 128-bit load

class Compute {
 public:
  Compute(const Plan& plan, ComputeWarp warp) : plan_(plan), warp_(warp) {}

  std::vector<traces::Node> body() const {
    Code entry(*plan_.architecture);
    add_backward_entry(entry, plan_.compute_registers);
    std::vector<traces::Node> body;
    Code last(*plan_.architecture);
    if (plan_.pair) {
      // The first block has no previous block to announce.
      add_block(entry, true);
      body = {block_of(entry), loop_of(loop(), {.parameter = BackwardParameters::kMore})};
      add_arrival(last, Ring::kScoreGradient);
    } else {
      body = {block_of(entry), loop_of(loop(), {.parameter = BackwardParameters::kBlocks})};
    }
    add_key_gradients(last, plan_, warp_);
    body.push_back(block_of(last.add("EXIT")));
    connect(*plan_.architecture, body);
    return body;
  }

 private:
  Code loop() const {
    Code code(*plan_.architecture);
    add_block(code, false);
    return code.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  }

  void add_meeting(Code& code) const {
    code.add("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100", {.barrier = BackwardBarriers::kCompute, .count = 32 * Plan::kComputeWarps});
  }
  // Meets before values are overwritten that other warps may still read.
  void add_guard(Code& code) const {
    if (!plan_.own_columns) add_meeting(code);
  }
  void add_announcement(Code& code, int16_t ring) const {
    if (plan_.own_columns) {
      code.add("WARPSYNC.ALL");
    } else {
      add_meeting(code);
    }
    add_arrival(code, ring);
  }

  void add_region(Code& code, const std::function<void(Code&)>& add) const {
    Code region(*plan_.architecture);
    add(region);
    code.add(list_schedule(*plan_.architecture, region.instructions()));
  }

  void add_block(Code& code, bool first) const {
    add_wait(code, Ring::kLogSumFull, At::kQuery, 0);
    add_wait(code, Ring::kScores, At::kThis, 0);
    for (uint32_t i = 0; i < Plan::kFragments; ++i)
      code.add(line({"LDTM.x32 ", general(kScores + Plan::kFragment * i), ", tmem[UR10]"}));
    if (plan_.pair && !first) add_read(code, Ring::kScoreGradient);
    if (plan_.own_columns) add_read(code, Ring::kScoresRead);
    if (plan_.causal()) add_mask(code);
    add_probabilities(code);
    add_score_gradients(code);
  }

  // Announces that S is in registers, so that its columns may be overwritten.
  static void add_read(Code& code, int16_t ring) {
    for (uint32_t i = 0; i < Plan::kFragments; ++i) code.add(line({"MOV R4, ", general(kScores + Plan::kFragment * (i + 1) - 1)}));
    add_arrival(code, ring);
  }

  void add_probabilities(Code& code) const {
    for (uint32_t fragment = 0; fragment < Plan::kFragments; ++fragment) {
      add_region(code, [&](Code& region) {
        add_rows(region, kRows, 0, Plan::kFragment);
        for (uint32_t i = 0; i < Plan::kFragment; i += 2) add_probability_pair(region, fragment, i);
      });
      if (fragment == 0) {
        if (plan_.own_columns) add_wait(code, Ring::kProbabilitiesRead, At::kThis, 0);
        add_guard(code);
      }
      code.add(line({"STTM.x16 tmem[UR12], ", general(kPacked)}));
    }
    code.add("FENCE.VIEW.ASYNC.T").add("FENCE.VIEW.ASYNC.S");
    add_announcement(code, Ring::kProbabilities);
    code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR6], RZ", {.barrier = Ring::kLogSumEmpty, .cursor = At::kQuery, .advance = 1});
  }

  void add_probability_pair(Code& code, uint32_t fragment, uint32_t i) const {
    const uint32_t score = kScores + Plan::kFragment * fragment + i;
    code.add(line({"FFMA2.FTZ ", general(score), ", ", general(score), ", UR36, -", general(kRows + i)}));
    for (uint32_t half = 0; half < 2; ++half) code.add(line({"MUFU.EX2 ", general(score + half), ", ", general(score + half)}));
    add_pack(code, kPacked + i / 2, score);
  }

  void add_score_gradients(Code& code) const {
    add_wait(code, Ring::kRowDotFull, At::kThis, 0);
    add_wait(code, Ring::kProbabilityGradient, At::kThis, 0);
    for (uint32_t fragment = 0; fragment < Plan::kFragments; ++fragment) {
      code.add(line({"LDTM.x32 ", general(kRows), ", tmem[UR10]"}));
      code.add(line({"MOV R4, ", general(kRows + Plan::kFragment - 1)}));
      add_guard(code);
      add_region(code, [&](Code& region) { add_score_gradient(region, fragment); });
      if (fragment == 0) add_wait(code, Ring::kScoreGradientEmpty, At::kThis, 1);
      code.add(line({"STTM.x16 tmem[UR12], ", general(kRows)}));
      // A pair first stores the half of dS that stays in this CTA; the other half goes to the other CTA.
      if (!plan_.pair || fragment == 0) add_stores(code);
    }
    code.add("FENCE.VIEW.ASYNC.T");
    if (plan_.pair) {
      add_arrival(code, Ring::kStoredScoreGradient);
      add_stores(code);
    }
    code.add("FENCE.VIEW.ASYNC.S");
    add_announcement(code, Ring::kRowDotEmpty);
    if (!plan_.pair) add_arrival(code, Ring::kScoreGradient);
    if (plan_.pair && warp_.group == 0 && warp_.first) add_exchange(code);
  }

  void add_score_gradient(Code& code, uint32_t fragment) const {
    constexpr uint32_t kHeld = 16;  // rows held in registers
    for (uint32_t begin = 0; begin < Plan::kFragment; begin += kHeld) {
      add_rows(code, kPacked, begin, kHeld);
      for (uint32_t i = begin; i < begin + kHeld; i += 2) {
        const std::string gradient = general(kRows + i);
        code.add(line({"FADD2.FTZ ", gradient, ", ", gradient, ", -", general(kPacked + i - begin)}));
        code.add(line({"FMUL2.FTZ ", gradient, ", ", general(kScores + Plan::kFragment * fragment + i), ", ", gradient}));
      }
    }
    for (uint32_t i = 0; i < Plan::kFragment; i += 2) add_pack(code, kRows + i / 2, kRows + i);
  }

  static void add_rows(Code& code, uint32_t to, uint32_t begin, uint32_t rows) {
    for (uint32_t i = 0; i < rows; i += kRowsAtATime)
      code.add(line({"LDS.128 ", general(to + i), ", [R1+", immediate(4ULL * (begin + i)), "]"}), {.wavefronts = 2});
  }

  static void add_stores(Code& code) {
    for (uint32_t i = 0; i < Plan::kFragment / 2; i += 4)
      code.add(line({"STS.128 [R3+", immediate(4ULL * i), "], ", general(kRows + i)}));
  }

  void add_pack(Code& code, uint32_t to, uint32_t from) const {
    const std::string_view format = plan_.type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
    code.add(line({format, general(to), ", ", general(from + 1), ", ", general(from)}));
  }

  // Sends half of dS to the other CTA, and receives as much from it at the same time.
  void add_exchange(Code& code) const {
    const uint32_t bytes = plan_.score_bytes() / 2;
    code.add("SYNCS.ARRIVE.TRANS64 RZ, [UR6], R3", {.barrier = Ring::kExchange, .tx_bytes = bytes});
    code.add("UTMASTG.4D [UR8], [UR16]", {.bytes = bytes});
    code.add("UTMALDG.4D [UR8], [UR4]", {.bytes = bytes, .barrier = Ring::kExchange});
  }

  // The library masks every block of a causal head. Queries before a key do not see it: one word of bits for every 32 queries, from
  // which R2P sets seven predicates at a time, as in the forward pass.
  static void add_mask(Code& code) {
    code.add("VIADD R8, R0, UR51");
    for (uint32_t fragment = 0; fragment < Plan::kFragments; ++fragment) {
      code.add(line({"VIADD R9, R8, ", immediate(32ULL * fragment)})).add("VIMNMX.S32 R9, RZ, R9, !PT");
      code.add("SHF.R.U32.HI R10, RZ, R9, R10").add("ISETP.LT.U32.AND P0, PT, R9, 0x20, PT").add("SEL R10, R10, RZ, P0");
      for (uint32_t bits = 0; bits < 4; ++bits) {
        code.add("SHF.R.U32.HI R11, RZ, 0x8, R10").add("R2P PR, R11, 0x7f").add("LOP3.LUT P0, RZ, R11, 0x80, RZ, 0xc0, !PT");
        for (uint32_t i = 0; i < 8; ++i) {
          const std::string score = general(kScores + 32 * fragment + 8 * bits + i);
          code.add(line({"SEL ", score, ", ", score, ", -INF , P", immediate(i < 7 ? i : 0)}));
        }
      }
    }
  }

  const Plan& plan_;
  ComputeWarp warp_;
};

}  // namespace

std::vector<traces::Node> backward_compute_body(const Plan& plan, ComputeWarp warp) { return Compute(plan, warp).body(); }

}  // namespace warpfold::workloads::attention4
