// The multiply warp of the backward pass. One thread issues the five products of every block of queries; the scores of the next
// block come before the gradients of the current block:
//
//   one CTA       S0 dP0 dV0 | S1 dK0 dQ0 dP1 dV1 | S2 dK1 dQ1 dP2 dV2 | ... | dK dQ
//   a pair        S0 dP0 dV0 | S1 dK0 dP1 dQ0 dV1 | ...
//   own columns   S0 dP0 | S1 dV0 dK0 dQ0 dP1 | ... | dV dK dQ
//
// The rows of S, dP, dV and dK are keys. Left operands: for S and dP, K and V in shared memory; for dV and dK, P and dS in tensor
// memory. The rows of dQ are queries; its operands are dS and K in shared memory. The result overwrites the columns of dP and dS
// (with a pair: of S), so the next dP (S) waits until dQ has been read.
#include "workloads/flash_attention_4/backward.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4BackwardPlan;
using At = BackwardCursors;
using Ring = BackwardRings;

class Multiplier {
 public:
  explicit Multiplier(const Plan& plan) : plan_(plan) {}

  std::vector<traces::Node> body() const {
    Code first(*plan_.architecture);
    add_backward_entry(first, plan_.other_registers);
    add_scores(first);
    add_probability_gradient(first);
    if (!plan_.own_columns) add_value_gradient(first);
    if (plan_.pair) add_wait(first, Ring::kTurnedKeys, -1, 0);
    Code last(*plan_.architecture);
    if (plan_.own_columns) add_value_gradient(last);
    add_commit(last, Ring::kValueGradient);
    add_key_gradient(last);
    add_commit(last, Ring::kKeyGradient);
    if (plan_.pair) add_wait(last, Ring::kQueryGradientEmpty, At::kThis, 0);
    add_query_gradient(last);
    std::vector<traces::Node> body{block_of(first), loop_of(step(), {.parameter = BackwardParameters::kMore}),
                                   block_of(last.add("EXIT"))};
    connect(*plan_.architecture, body);
    return body;
  }

 private:
  Code step() const {
    Code code(*plan_.architecture);
    if (plan_.pair) {
      add_wait(code, Ring::kQueryGradientEmpty, At::kThis, 0);
      add_scores(code);
      add_key_gradient(code);
      add_probability_gradient(code);
      add_query_gradient(code);
    } else {
      add_scores(code);
      if (plan_.own_columns) add_value_gradient(code);
      add_key_gradient(code);
      add_query_gradient(code);
      add_probability_gradient(code);
    }
    if (!plan_.own_columns) add_value_gradient(code);
    return code.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  }

  void add_commit(Code& code, int16_t ring, int16_t cursor = -1) const {
    code.add(line({"UTCBAR", plan_.pair ? ".2CTA.MULTICAST" : "", " [UR16], URZ"}),
             {.barrier = ring, .cursor = cursor, .advance = cursor < 0 ? 0U : 1U});
  }

  // Adds `steps` steps of 16 along k. The left operand of `rows` rows is in tensor memory or in shared memory, the right one in
  // shared memory.
  void add_product(Code& code, bool left_in_tensor_memory, uint32_t steps, uint16_t rows, uint32_t columns) const {
    for (uint32_t i = 0; i < steps; ++i) {
      code.add(left_in_tensor_memory ? "UIADD3 UR10, UR10, 0x80, URZ" : "UIADD3 UR8, UR8, 0x2, URZ");
      code.add(line({"UTCHMMA", plan_.pair ? ".2CTA " : " ", left_in_tensor_memory ? "tmem[UR8]" : "gdesc[UR8]",
                     ", gdesc[UR10], tmem[UR12], tmem[UR14], idesc[UR15], UP0"}),
               {.rows = rows, .columns = static_cast<uint16_t>(columns)});
    }
  }

  // S = K Q^T of the next block.
  void add_scores(Code& code) const {
    add_wait(code, Ring::kQueryFull, At::kQuery, 1);
    if (plan_.own_columns) add_wait(code, Ring::kScoresRead, At::kNext, 0);
    add_product(code, false, plan_.head_dim() / Plan::kStep, Plan::kTile, Plan::kTile);
    add_commit(code, Ring::kScores);
    if (plan_.pair) add_commit(code, Ring::kQueryEmpty, At::kQueryRelease);
  }

  // dP = V dO^T of the next block.
  void add_probability_gradient(Code& code) const {
    add_wait(code, Ring::kGradientFull, At::kNext, 0);
    if (!plan_.pair) add_wait(code, Ring::kQueryGradientEmpty, At::kNext, plan_.own_columns ? 1 : 0);
    add_product(code, false, plan_.head_dim() / Plan::kStep, Plan::kTile, Plan::kTile);
    add_commit(code, Ring::kProbabilityGradient);
  }

  // dV += P dO of the next block; with own_columns, of the current block.
  void add_value_gradient(Code& code) const {
    if (plan_.own_columns) {
      add_wait(code, Ring::kProbabilities, At::kThis, 0);
    } else {
      add_wait(code, Ring::kProbabilities, At::kNext, 1);
    }
    add_product(code, true, Plan::kTile / Plan::kStep, Plan::kTile, plan_.head_dim());
    add_commit(code, Ring::kGradientEmpty);
    if (plan_.own_columns) add_commit(code, Ring::kProbabilitiesRead);
  }

  // dK += dS Q of the current block.
  void add_key_gradient(Code& code) const {
    if (plan_.pair) {
      add_wait(code, Ring::kTransposedQueryFull, At::kThis, 0);
      add_wait(code, Ring::kStoredScoreGradient, At::kThis, 0);
    } else {
      add_wait(code, Ring::kScoreGradient, At::kThis, 1);
    }
    add_product(code, true, Plan::kTile / Plan::kStep, Plan::kTile, plan_.head_dim());
    if (plan_.pair) {
      add_commit(code, Ring::kTurnedQueryEmpty);
    } else {
      add_commit(code, Ring::kQueryEmpty, At::kQueryRelease);
    }
  }

  // dQ = dS K of the current block. Each CTA of a pair has 64 of its queries and the keys of both CTAs.
  void add_query_gradient(Code& code) const {
    if (plan_.pair) {
      add_wait(code, Ring::kScoreGradient, At::kThis, 0);
      add_wait(code, Ring::kExchanged, At::kThis, 1);
    }
    add_product(code, false, plan_.group() * Plan::kTile / Plan::kStep, static_cast<uint16_t>(Plan::kTile / plan_.group()),
                plan_.head_dim());
    add_commit(code, Ring::kQueryGradient);
    add_commit(code, Ring::kScoreGradientEmpty);
  }

  const Plan& plan_;
};

}  // namespace

std::vector<traces::Node> backward_multiply_body(const Plan& plan) { return Multiplier(plan).body(); }

}  // namespace warpfold::workloads::attention4
