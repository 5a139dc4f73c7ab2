// A consumer warpgroup of the backward pass: half of a block of keys. It recomputes the scores and P = exp(S - log-sum-exp), then
// dP = V dO^T and dS = P (dP - dot(O, dO)). A pass of the loop is a block of queries:
//
//   Q | S, its exponents, some of P | dP: the rest of P, dS, packed and to shared memory | dV += P dO, dK += dS Q | room for dQ |
//   dQ = dS K, of both warpgroups' dS | to shared memory, for the writer
//
// All five products are wgmma. P and dS, the left operands of dV and dK, are in registers; all other operands are in shared memory.
// The warpgroups take no turns. They meet once per block, before dQ, which needs the dS of both.
//
// Counts and order are those of the compiled kernel (flash-attention bafe2530, its flags, ptxas of CUDA 12.4; CUDA 13.0 has the
// same parts); registers are ours. Of its 494 and 683 instructions per block (head_dim 128 and 64, no mask), 11 and 20 spill
// registers, and are omitted here. Outside the loop, packing, stores and products follow the compiled kernel, and addresses take
// the instructions that they need.
#include <functional>

#include "workloads/flash_attention_3/backward_scores.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3BackwardPlan;

constexpr uint32_t kFirstQuad = 4;  // UR4-UR35: four uniform registers hold the descriptors of A and B
constexpr uint32_t kQuads = 8;

// One of the five products, for one warpgroup.
struct Product {
  uint32_t columns;
  uint32_t accumulators;
  uint32_t steps;
  uint32_t left = 0;   // registers of its left operand; 0: in shared memory
  bool fresh = false;  // the first step overwrites the accumulators
  bool moved = false;  // descriptors are computed in other registers and moved (counted in blocks on the diagonal, head_dim 128)
};

class BackwardConsumer {
 public:
  BackwardConsumer(const Plan& plan, uint32_t group) : plan_(plan), at_(plan), group_(group) {}

  std::vector<traces::Node> body() const;

 private:
  // `beside`: adds code before the product's last step.
  void add_product(Code& code, const Product& product, const std::function<void()>& beside = [] {}) const;
  void add_query_gradient(Code& code, bool moved) const;
  void add_fence(Code& code) const { code.add("MEMBAR.ALL.CTA").add("FENCE.VIEW.ASYNC.S"); }
  Code pass(Mask mask) const;
  Code entry() const;
  Code epilogue() const;

  const Plan& plan_;
  BackwardRegisters at_;
  uint32_t group_;
};

void BackwardConsumer::add_product(Code& code, const Product& product, const std::function<void()>& beside) const {
  code.add("UIADD3 UR45, UR45, UR39, URZ").add("USHF.R.U32.HI UR45, URZ, 0x4, UR45");
  code.add("ULOP3.LUT UR45, UR45, 0x3fff, URZ, 0xc0, !UPT").add("ULOP3.LUT UR45, UR45, 0x10000, URZ, 0xfc, !UPT");
  code.add("WARPGROUP.ARRIVE");
  for (uint32_t step = 0; step < product.steps; ++step) {
    const uint32_t quad = kFirstQuad + 4 * (step % kQuads);
    const std::string accumulators = general(product.accumulators);
    const bool last = step + 1 == product.steps;
    if (last) beside();
    code.add(line({"UIADD3 ", uniform(quad + 2), ", UR45, ", immediate(2ULL * step), ", URZ"}));
    code.add(line({"UMOV ", uniform(quad + 3), ", 0x40000040"}));
    if (product.left == 0) code.add(line({"UMOV ", uniform(quad + 1), ", 0x40000040"}));
    if (product.moved) code.add("UIADD3 UR54, UR45, 0x2, URZ").add("UMOV UR55, UR54");
    const std::string left = product.left == 0 ? "" : general(product.left + 4 * step) + ", ";
    code.add(line({wgmma_name(plan_.type, product.columns), " ", accumulators, ", ", left, "gdesc[", uniform(quad), "], ",
                   accumulators, product.fresh && step == 0 ? ", !UPT" : ", UPT", last ? ", gsb0" : ""}),
             {.commit = last});
  }
}

// Waits until dQ's room is free and the other warpgroup has written its dS; computes dQ and stores it to shared memory for the
// writer.
void BackwardConsumer::add_query_gradient(Code& code, bool moved) const {
  add_fence(code);
  code.add("BAR.SYNC.DEFER_BLOCKING 0xc, 0x120",
           {.barrier = BackwardBarriers::kQueryGradientEmpty, .count = kQueryGradientThreads});
  add_product(code, {plan_.query_gradient_columns(), at_.query_gradient(), Plan::kTileKeys / Plan::kStepElements, 0, true, moved});
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x1", {.count = 1});  // dK is complete, so Q has been read; dQ does not read it
  add_release(code, BackwardRings::kQueryEmpty, BackwardCursors::kQuery);
  add_next_stage(code, Plan::kStages);
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  for (uint32_t i = 0; i < plan_.query_gradients(); i += 4) {
    code.add(line({"STS.128 [R5+", immediate(1024ULL * i), "], ", general(at_.query_gradient() + i)}));
  }
  add_fence(code);
  code.add("BAR.ARV 0xd, 0x120", {.barrier = BackwardBarriers::kQueryGradientFull, .count = kQueryGradientThreads});
}

Code BackwardConsumer::pass(Mask mask) const {
  Code code(*plan_.architecture);
  const uint32_t columns = plan_.tile_queries;
  const uint32_t depth = plan_.head_dim() / Plan::kStepElements;
  const uint32_t blocks = plan_.tile_queries / Plan::kStepElements;
  const bool moved = mask == Mask::kCausal && plan_.head_dim() == 128;
  BackwardScores scores(code, plan_, mask);
  add_look(code, BackwardRings::kQueryFull, BackwardCursors::kQuery);
  code.add("@!P0 BRA `(.L_wait_query)");
  scores.add_descriptors(true);
  add_product(code, {columns, at_.scores(), depth, 0, true, moved}, [&scores] { scores.add_first_rows(); });
  add_look(code, BackwardRings::kGradientFull, BackwardCursors::kGradient);
  code.add("@!P0 BRA `(.L_wait_gradient)");
  scores.add_descriptors(false);
  add_product(code, {columns, at_.gradients(), depth, 0, true, moved});
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x1", {.count = 1});
  scores.add_beside_gradients();
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  scores.add_gradients();
  add_product(code, {plan_.head_dim(), at_.value_gradient(), blocks, at_.scores()});
  add_product(code, {plan_.head_dim(), at_.key_gradient(), blocks, at_.gradients()});
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x1", {.count = 1});  // dV is complete
  add_release(code, BackwardRings::kGradientEmpty, BackwardCursors::kGradient);
  add_query_gradient(code, moved);
  return code.add("ISETP.GT.AND P4, PT, R2, 0x1, PT").add("VIADD R2, R2, -0x1").add("@P4 BRA `(.L_block)");
}

Code BackwardConsumer::entry() const {
  Code code(*plan_.architecture);
  code.add("S2R R0, SR_TID.X").add("S2UR UR40, SR_CTAID.X").add("ULDC.64 UR42, c[0x0][0x210]").add("SHF.R.U32.HI R1, RZ, 0x5, R0");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = Plan::kThreads});
  code.add("USETMAXREG.TRY_ALLOC.CTAPOOL 0xf0", {.count = Plan::kConsumerRegisters});
  code.add("ULDC UR36, c[0x0][0x520]").add("UMOV UR38, URZ").add("UMOV UR39, 0x400").add("UMOV UR41, URZ").add("MOV R2, RZ");
  code.add("UMOV UR45, URZ").add("LOP3.LUT R4, R0, 0x7f, RZ, 0xc0, !PT").add("IMAD R5, R4, 0x10, R1").add("MOV R12, R5");
  code.add("MOV R14, R4").add("MOV R20, R0");
  for (uint32_t i = 0; i < 2 * plan_.key_gradients(); i += 2) {
    code.add(line({"CS2R ", general(at_.value_gradient() + i), ", SRZ"}));
  }
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR39], R2", {.barrier = BackwardRings::kKeys}).add("@!P0 BRA `(.L_wait_keys)");
  return code;
}

// Scales dK, packs dK and dV, and stores them through shared memory in the place of K and V. In the library one warp stores all of
// it; here each of the eight warps stores an eighth.
Code BackwardConsumer::epilogue() const {
  Code code(*plan_.architecture);
  for (uint32_t i = 0; i < plan_.key_gradients(); ++i) {
    const std::string value = general(at_.key_gradient() + i);
    code.add(line({"FMUL.FTZ ", value, ", ", value, ", UR36"}));
  }
  for (uint32_t i = 0; i < 2 * plan_.key_gradients(); i += 2) add_pack(code, plan_, at_.value_gradient(), i);
  const auto together = [&code] {
    code.add("BAR.SYNC.DEFER_BLOCKING 0x6, 0x100", {.barrier = BackwardBarriers::kKeysRead, .count = Plan::kConsumerThreads});
  };
  together();
  for (uint32_t i = 0; i < plan_.key_gradients() / 4; ++i) {
    code.add(line({"STSM.16.M88.4 [R5+", immediate(512ULL * i), "], ", general(at_.value_gradient() + 4 * i)}));
  }
  add_fence(code);
  together();
  const int16_t stream = group_ == 0 ? kStreamValueGradient : kStreamKeyGradient;
  code.add("UTMASTG.4D [UR8], [UR16]", {.bytes = plan_.key_tile_bytes() / 4, .stream = stream}).add("UTMACMDFLUSH");
  return code.add("EXIT");
}

std::vector<traces::Node> BackwardConsumer::body() const {
  std::vector<traces::Node> body{block_of(entry())};
  if (plan_.causal()) {
    body.push_back(loop_of(pass(Mask::kCausal), {.parameter = BackwardParameters::kMasked}));
    body.push_back(block_of(Code(*plan_.architecture).add("IMAD.MOV.U32 R2, RZ, RZ, R2")));
  }
  body.push_back(loop_of(pass(Mask::kKeys), {.parameter = BackwardParameters::kFull}));
  body.push_back(block_of(epilogue()));
  connect(*plan_.architecture, body);
  return body;
}

}  // namespace

std::vector<traces::Node> backward_consumer_body(const Plan& plan, uint32_t group) { return BackwardConsumer(plan, group).body(); }

}  // namespace warpfold::workloads
