// One warp of the backward pass. It recomputes S = Q K^T and P = exp(S - log-sum-exp), then dP = dO V^T and dS = P (dP - dot(O,
// dO)). The sums dV += P^T dO and dK += dS^T Q stay in registers; dQ = dS K is added to memory (RED). One pass of the loop is one
// block of queries.
//
// assumed: the instruction mix, because no compiled code of the pass was counted. The order of work, barriers, prefetches and the
// values that pass through shared memory follow the library (csrc/flash_attn/src/flash_bwd_kernel.h @04da83f3). Per warp this
// gives:
// - products and their LDSM by tile and warp layout, as counted in the forward pass (one LDSM.x4 for a fragment of 16 x 16);
// - per score FFMA, MUFU, FADD, FMUL, F2FP (half of P, half of dS) and STS of 32 bits;
// - per element of dQ a RED; per row two loads.
// Address arithmetic and bookkeeping of a pass are those of the forward pass, which also advances two streams of tiles. There are
// no spills. The kernels before (dot(O, dO), dQ cleared) and after (dQ converted) are in prepare_convert.cc.
#include <algorithm>

#include "workloads/flash_attention_2/code.h"

namespace warpfold::workloads {
namespace {

struct Registers {
  uint32_t log_sum, dot;                          // per row
  uint32_t q, k, v, p, copy_to;                   // addresses in shared memory; `p` also serves dS, dO and transposed operands
  uint32_t key_gradient, value_gradient, scores;  // accumulators
  uint32_t gradients;                             // dP, then dQ
  uint32_t q_from, o_from, rows_from, dq_to;      // global addresses, in register pairs
  uint32_t ring, slots;
};

class Backward {
 public:
  explicit Backward(const FlashAttention2BackwardPlan& plan) : plan_(plan), common_(plan.common) {
    RegisterAllocator registers(4);
    at_.log_sum = registers.take(rows());
    at_.dot = registers.take(rows());
    for (uint32_t* address : {&at_.q, &at_.k, &at_.v, &at_.p, &at_.copy_to}) *address = registers.take(1);
    at_.key_gradient = registers.take(key_gradients(), 4);
    at_.value_gradient = registers.take(key_gradients(), 4);
    // dQ is computed when S and dP are no longer needed, so they share registers.
    const uint32_t area = registers.take(std::max(2 * scores(), query_gradients()), 4);
    at_.scores = area;
    at_.gradients = area + scores();
    for (uint32_t* pointer : {&at_.q_from, &at_.o_from, &at_.rows_from, &at_.dq_to}) *pointer = registers.take(2, 2);
    at_.slots = std::min(registers.fragments_left(), 24U);  // 24: enough for two steps of the largest product
    at_.ring = registers.take(4 * at_.slots, 4);
  }

  std::vector<traces::Node> body() const {
    std::vector<traces::Node> body{prologue()};
    if (common_.tiles.causal() || common_.tiles.keys() % common_.tile_keys != 0) {
      body.push_back(loop_of(masking(common_, at_.scores, scores()), {.parameter = 1}));
      body.push_back(block_of(Code(*common_.architecture).add("NOP")));
    }
    body.push_back(loop_of(pass(), {.parameter = 0}));
    body.push_back(epilogue());
    connect(*common_.architecture, body);
    return body;
  }

 private:
  // Sizes of a warp's part, in blocks of 16 rows (m) and 8 columns (n).
  uint32_t score_m() const { return common_.tile_queries / plan_.score_rows / 16; }
  uint32_t score_n() const { return common_.tile_keys / (common_.warps / plan_.score_rows) / 8; }
  uint32_t key_m() const { return common_.tile_keys / plan_.key_rows / 16; }
  uint32_t key_n() const { return common_.head_dim() / (common_.warps / plan_.key_rows) / 8; }
  uint32_t query_m() const { return common_.tile_queries / plan_.query_rows / 16; }
  uint32_t query_n() const { return common_.head_dim() / (common_.warps / plan_.query_rows) / 8; }
  uint32_t rows() const { return 2 * score_m(); }
  uint32_t scores() const { return score_m() * score_n() * 4; }
  uint32_t key_gradients() const { return key_m() * key_n() * 4; }
  uint32_t query_gradients() const { return query_m() * query_n() * 4; }
  uint32_t query_gradient() const { return at_.scores; }
  uint32_t query_copies() const { return common_.tile_queries * common_.head_dim() * 2 / kCopyBytes / common_.warps; }
  uint32_t key_copies() const { return common_.tile_keys * common_.head_dim() * 2 / kCopyBytes / common_.warps; }

  struct Operands {
    uint32_t a, b;  // addresses
    bool a_transposed, b_transposed;
  };
  WarpProduct product(uint32_t m, uint32_t n, uint32_t depth, uint32_t accumulators, bool fresh, const Operands& operands) const {
    WarpProduct product{m, n, depth / 16, accumulators, fresh, {}, 4, {}};
    const uint32_t of_a = 2 * m;
    product.a = {at_.ring, of_a, operands.a, operands.a_transposed};
    product.b = {at_.ring + 4 * of_a, at_.slots - of_a, operands.b, operands.b_transposed};
    return product;
  }
  Lines row_loads(uint32_t first) const;
  Lines probabilities() const;
  Lines score_gradients() const;
  Lines store_scores(uint32_t first) const;
  Lines add_query_gradient() const;
  Code pass() const;
  traces::Block prologue() const;
  traces::Block epilogue() const;

  const FlashAttention2BackwardPlan& plan_;
  const FlashAttention2Plan& common_;
  Registers at_{};
};

Lines all_of(const ProductLines& product) {
  Lines lines = product.first_loads;
  return append(lines, product.products);
}

// One number per row; the eight rows of a fragment lie in 32 bytes.
Lines Backward::row_loads(uint32_t first) const {
  Lines lines;
  for (uint32_t row = 0; row < rows(); ++row) {
    lines.push_back({line({"LDG.E ", r(first + row), ", [", r(at_.rows_from), ".64+", immediate(row * 32), "]"}),
                     {.bytes = 32, .stream = kStreamRows}});
  }
  return lines;
}

Lines Backward::probabilities() const {
  Lines lines;
  for (uint32_t i = 0; i < scores(); ++i) {
    const std::string of = r(at_.scores + i);
    const uint32_t row = 2 * (i / (score_n() * 4)) + i / 2 % 2;
    lines.push_back({line({"FFMA.FTZ ", of, ", ", of, ", ", kScale, ", -", r(at_.log_sum + row)}), {}});
    lines.push_back({line({"MUFU.EX2 ", of, ", ", of}), {}});
  }
  return lines;
}

Lines Backward::score_gradients() const {
  Lines lines;
  for (uint32_t i = 0; i < scores(); ++i) {
    const std::string of = r(at_.gradients + i);
    const uint32_t row = 2 * (i / (score_n() * 4)) + i / 2 % 2;
    lines.push_back({line({"FADD.FTZ ", of, ", ", of, ", -", r(at_.dot + row)}), {}});
    lines.push_back({line({"FMUL.FTZ ", of, ", ", r(at_.scores + i), ", ", of}), {}});
  }
  return lines;
}

// Packs scores and stores them to shared memory, where other warps read them transposed. The packed words use the ring's registers,
// because dS still needs P's floats.
Lines Backward::store_scores(uint32_t first) const {
  Lines lines;
  for (uint32_t i = 0; i < scores(); i += 2) {
    const std::string word = r(at_.ring + i / 2 % (4 * at_.slots));
    lines.push_back({line({pack_mnemonic(common_), " ", word, ", ", r(first + i + 1), ", ", r(first + i)}), {}});
    lines.push_back({line({"STS [", r(at_.p), "+", immediate(i * 64), "], ", word}), {}});
  }
  return lines;
}

Lines Backward::add_query_gradient() const {
  Lines lines;
  for (uint32_t i = 0; i < query_gradients(); ++i) {
    lines.push_back(
        {line({"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [", r(at_.dq_to), ".64+", immediate(i * 128), "], ", r(query_gradient() + i)}),
         {.bytes = 128, .stream = kStreamQueryGradient}});
  }
  return lines;
}

Code Backward::pass() const {
  const uint32_t d = common_.head_dim();
  const auto s = lines_of(product(score_m(), score_n(), d, at_.scores, true, {at_.q, at_.k, false, false}));
  const auto dp = lines_of(product(score_m(), score_n(), d, at_.gradients, true, {at_.p, at_.v, false, false}));
  const auto dv = lines_of(product(key_m(), key_n(), common_.tile_queries, at_.value_gradient, false, {at_.p, at_.q, true, true}));
  const auto dk = lines_of(product(key_m(), key_n(), common_.tile_queries, at_.key_gradient, false, {at_.p, at_.q, true, true}));
  const auto dq = lines_of(product(query_m(), query_n(), common_.tile_keys, query_gradient(), true, {at_.p, at_.k, false, true}));
  const Lines addresses = bookkeeping(common_, CountedVariant::kPlain);
  const auto middle = addresses.begin() + static_cast<ptrdiff_t>(addresses.size() / 2);
  const Lines next_q = async_copies(at_.copy_to, at_.q_from, kStreamQueries, query_copies(), kCopyBytes);
  const Lines next_do = async_copies(at_.copy_to, at_.o_from, kStreamOutputGradient, query_copies(), kCopyBytes);

  Code code(*common_.architecture);
  add_lines(code, copies_arrived(common_));  // Q and dO
  Lines lines = row_loads(at_.dot);
  append(lines, all_of(s));
  append(lines, probabilities());
  append(lines, store_scores(at_.scores));
  append(lines, all_of(dp));
  add_scheduled(code, append(lines, score_gradients()));
  code.add("ISETP.GT.AND P0, PT, R3, RZ, PT");
  if (plan_.two_q_buffers) {
    code.add("BRA 0x0");  // skips the prefetch; not taken
    lines = interleave(next_q, {addresses.begin(), middle});
  } else {
    lines = {addresses.begin(), middle};
  }
  add_scheduled(code, append(lines, store_scores(at_.gradients)));
  add_lines(code, {cta_barrier(common_)});  // P and dS are in shared memory
  add_scheduled(code, all_of(dv));
  add_lines(code, {cta_barrier(common_)});  // dO has been read
  code.add("BRA 0x0");
  lines = interleave(next_do, {middle, addresses.end()});
  append(lines, all_of(dq));
  append(lines, row_loads(at_.log_sum));
  append(lines, add_query_gradient());
  add_scheduled(code, append(lines, all_of(dk)));
  if (!plan_.two_q_buffers) {
    add_lines(code, {cta_barrier(common_)});  // Q has been read
    add_lines(code, next_q);
  }
  return code.add("@P0 BRA 0x0");
}

traces::Block Backward::prologue() const {
  Code code(*common_.architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("S2R R2, SR_CTAID.Y").add("ULDC.64 UR4, c[0x0][0x160]");
  code.add("IMAD R0, R1, 0x80, R0").add("IMAD R2, R2, 0x200, R0").add("IMAD.SHL.U32 R3, R0, 0x10, RZ");
  for (const uint32_t address : {at_.q, at_.k, at_.v, at_.p, at_.copy_to})
    code.add(line({"IADD3 ", r(address), ", R3, 0x800, RZ"}));
  for (const uint32_t pointer : {at_.q_from, at_.o_from, at_.rows_from, at_.dq_to}) {
    code.add(line({"IMAD.MOV.U32 ", r(pointer), ", RZ, RZ, UR4"})).add(line({"IMAD.MOV.U32 ", r(pointer + 1), ", RZ, RZ, UR5"}));
    code.add(line({"IMAD.WIDE.U32 ", r(pointer), ", R2, 0x10, ", r(pointer)}));
  }
  // The first block of Q and dO is requested without bytes and takes only L1's latency. Each pass of the loop counts the bytes of
  // the next block, and the last pass requests one block too many (as for K in the forward pass).
  add_lines(code, async_copies(at_.copy_to, at_.q_from, kStreamQueries, 2 * query_copies(), 0));
  add_lines(code, row_loads(at_.log_sum));
  add_lines(code, async_copies(at_.copy_to, at_.q_from, kStreamKeys, key_copies(), kCopyBytes));
  add_lines(code, async_copies(at_.copy_to, at_.q_from, kStreamValues, key_copies(), kCopyBytes));
  for (uint32_t i = 0; i < 2 * key_gradients(); i += 2) code.add(line({"CS2R ", r(at_.key_gradient + i), ", SRZ"}));
  for (uint32_t i = 0; i < scores(); i += 2) code.add(line({"CS2R ", r(at_.scores + i), ", SRZ"}));
  code.add("NOP");
  return block_of(code);
}

// Scales dK, packs dK and dV, and stores them through shared memory, so that whole rows reach memory.
traces::Block Backward::epilogue() const {
  Code code(*common_.architecture);
  for (uint32_t i = 0; i < key_gradients(); ++i) {
    code.add(line({"FMUL.FTZ ", r(at_.key_gradient + i), ", ", r(at_.key_gradient + i), ", ", kScale}));
  }
  for (uint32_t i = 0; i < 2 * key_gradients(); i += 2) {
    const std::string low = r(at_.key_gradient + i);
    code.add(line({pack_mnemonic(common_), " ", low, ", ", r(at_.key_gradient + i + 1), ", ", low}));
  }
  add_lines(code, {cta_barrier(common_)});
  for (uint32_t i = 0; i < 2 * key_gradients(); i += 2) {
    code.add(line({"STS [", r(at_.q), "+", immediate(i * 64), "], ", r(at_.key_gradient + i)}));
  }
  add_lines(code, {cta_barrier(common_)});
  for (uint32_t i = 0; i < 2 * key_copies(); ++i) {
    code.add(line({"LDS.128 ", r(at_.key_gradient + 4 * i), ", [", r(at_.q), "+", immediate(i * 512), "]"}));
  }
  for (uint32_t i = 0; i < 2 * key_copies(); ++i) {
    const int16_t stream = i < key_copies() ? kStreamKeyGradient : kStreamValueGradient;
    code.add(line({"STG.E.128 [", r(at_.q_from), ".64+", immediate(i * 512), "], ", r(at_.key_gradient + 4 * i)}),
             {.bytes = kCopyBytes, .stream = stream});
  }
  code.add("EXIT");
  return block_of(code);
}

}  // namespace

std::vector<traces::Node> flash_attention_2_backward_body(const FlashAttention2BackwardPlan& plan) { return Backward(plan).body(); }

}  // namespace warpfold::workloads
