// One warp of the forward pass: scores S = Q K^T in registers, softmax, O += P V. One pass of the loop is one block of keys.
//
// The instructions of a pass were counted in compiled code (FlashAttention-2 @ head_dim 128, fp16, CUDA 13.0 ptxas, printed by
// nvdisasm; tests/workloads/data/flash_attention_2_counts.csv). Order and registers are ours, with the algorithm's dependences.
// Matrix products, softmax and dropout scale with the tile. A score takes FMNMX, FFMA, MUFU, FADD and half an F2FP. An element of O
// takes an FMUL. A row takes two SHFL, two FMNMX, FADD, FFMA, two FMUL, MUFU, FSETP, FSEL and a move. The remaining counts are
// address arithmetic and bookkeeping (the table in code.cc) and do not scale. head_dim 64 without dropout has counts of its own,
// prologue and epilogue included (head_dim_64.h). assumed: head_dim 256, and 64 with dropout, take the column of their dropout
// mode. They have the same number of pointers. Spills occur only in the tiles in which they were counted: 128 x 64 at head_dim
// 128, and 128 x 128 at 64.
#include "workloads/flash_attention_2/forward.h"

#include <algorithm>

namespace warpfold::workloads {

FlashAttention2Forward::FlashAttention2Forward(const FlashAttention2Plan& plan) : plan_(plan) {
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
  const uint32_t wanted = std::max(2 * (plan.row_blocks() + plan.warp_keys() / 16), 2 * plan.head_dim() / 16);
  at_.slots = std::min(wanted, registers.fragments_left());
  at_.ring = take(4 * at_.slots, 4);
}

std::vector<traces::Node> FlashAttention2Forward::body() const {
  if (counted_) return counted_body();
  std::vector<traces::Node> body{prologue()};
  if (plan_.tiles.causal() || plan_.tiles.keys() % plan_.tile_keys != 0) {
    body.push_back(loop_of(masking(plan_, at_.scores, scores()), {.parameter = 1}));
    body.push_back(block_of(Code(*plan_.architecture).add("NOP")));
  }
  body.push_back(loop_of(pass(Part::kLoop), {.parameter = 0}));
  body.push_back(epilogue());
  connect(*plan_.architecture, body);
  return body;
}

// Parameter 0: blocks of the loop; 1: whether there is a second block, which a ragged causal kernel masks outside its loop.
std::vector<traces::Node> FlashAttention2Forward::counted_body() const {
  std::vector<traces::Node> body{prologue()};
  body.push_back(block_of(pass(Part::kFirst)));
  if (blocks_before_loop(plan_) == 2) {
    body.push_back(loop_of(pass(Part::kSecond), {.parameter = 1}));
    body.push_back(block_of(Code(*plan_.architecture).add("NOP")));
  }
  body.push_back(loop_of(pass(Part::kLoop), {.parameter = 0}));
  body.push_back(epilogue());
  connect(*plan_.architecture, body);
  return body;
}

Lines FlashAttention2Forward::bookkeeping_of(Part part) const {
  return counted_ ? counted_lines(plan_, part) : bookkeeping(plan_, variant());
}

void FlashAttention2Forward::add_counted(Code& code, Part part) const {
  // Results go to the registers of the scores in turn, as they are free and the instructions are independent but for carries.
  Lines lines = counted_lines(plan_, part);
  uint32_t next = 0;
  for (Line& one : lines) {
    const size_t at = one.text.find(" R0,");
    if (at == std::string::npos) continue;
    one.text.replace(at, 4, line({" ", r(at_.scores + 2 * (next++ % (scores() / 2))), ","}));
  }
  add_scheduled(code, lines);
  for (uint32_t i = 0; i < counted_branches(plan_, part); ++i) code.add("@!PT BRA 0x0");
}

Code FlashAttention2Forward::counted_prologue() const {
  Code code(*plan_.architecture);
  add_counted(code, Part::kPrologue);
  for (const uint32_t address : {at_.q, at_.k, at_.v, at_.copy_to}) code.add(line({"IADD3 ", r(address), ", R3, 0x800, RZ"}));
  for (const uint32_t pointer : {at_.k_from, at_.v_from}) code.add(line({"IMAD.WIDE.U32 ", r(pointer), ", R3, 0x10, RZ"}));
  Lines copies = async_copies(at_.copy_to, at_.k_from, kStreamQ, query_copies(), plan_.bytes_of_rows(kCopyBytes));
  copies.pop_back();  // Q and the first block of K are one group
  append(copies, async_copies(at_.copy_to, at_.k_from, kStreamK, key_copies(), 0));
  add_lines(code, copies);
  return code;
}

WarpProduct FlashAttention2Forward::score_product() const {
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

WarpProduct FlashAttention2Forward::output_product() const {
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

Code FlashAttention2Forward::pass(Part part) const {
  const ProductLines scores = lines_of(score_product());
  const ProductLines output = lines_of(output_product());
  const Lines addresses = bookkeeping_of(part);
  const auto middle = addresses.begin() + static_cast<ptrdiff_t>(addresses.size() / 2);

  Code code(*plan_.architecture);
  add_lines(code, copies_arrived(plan_));  // K
  add_lines(code, page_lookup());
  Lines lines = interleave(async_copies(at_.copy_to, at_.v_from, kStreamV, key_copies(), kCopyBytes), {addresses.begin(), middle});
  if (stored()) {
    const std::string width = words() == 2 ? "LDG.E.64.CONSTANT " : "LDG.E.CONSTANT ";
    lines.push_back({line({width, r(at_.bits), ", [", r(at_.bits_from), ".64]"}), {.bytes = words() * 128, .stream = kStreamBits}});
  }
  append(lines, scores.first_loads);
  add_scheduled(code, append(lines, scores.products));
  add_lines(code, copies_arrived(plan_));  // V
  if (!counted_) code.add("ISETP.GT.AND P0, PT, R3, RZ, PT");
  code.add("BRA 0x0");  // skips the prefetch; not taken
  for (uint32_t i = 0; counted_ && i < counted_branches(plan_, part); ++i) code.add("@!PT BRA 0x0");
  add_lines(code, page_lookup());
  lines = interleave(async_copies(at_.copy_to, at_.k_from, kStreamK, key_copies(), kCopyBytes), {middle, addresses.end()});
  if (counted_ && is_masked(plan_, part)) append(lines, mask());
  append(lines, softmax(part));
  append(lines, output.first_loads);
  add_scheduled(code, append(lines, output.products));
  return code.add("@P0 BRA 0x0");
}

traces::Block FlashAttention2Forward::prologue() const {
  if (counted_) return block_of(counted_prologue());
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
  add_lines(code, async_copies(at_.copy_to, at_.k_from, kStreamQ, query_copies(), plan_.bytes_of_rows(kCopyBytes)));
  // The first block of K is requested without bytes and takes only L1's latency. Each pass of the loop counts the bytes of the next
  // block, and the last pass requests a block that does not exist, so the bytes of the launch are complete.
  add_lines(code, async_copies(at_.copy_to, at_.k_from, kStreamK, key_copies(), 0));
  for (uint32_t i = 0; i < outputs(); i += 2) code.add(line({"CS2R ", r(at_.output + i), ", SRZ"}));
  for (uint32_t i = 0; i < scores(); i += 2) code.add(line({"CS2R ", r(at_.scores + i), ", SRZ"}));
  for (uint32_t row = 0; row < rows(); ++row) {
    code.add(line({"MOV ", r(at_.maximum + row), ", 0xff800000"})).add(line({"MOV ", r(at_.sum + row), ", RZ"}));
  }
  code.add("NOP");
  return block_of(code);
}

// Sums over the four threads of a row, O / sum, and stores through shared memory in the place of Q, so that whole rows reach
// memory.
traces::Block FlashAttention2Forward::epilogue() const {
  Code code(*plan_.architecture);
  for (const std::string_view distance : {"0x2", "0x1"}) {
    for (uint32_t row = 0; row < rows(); ++row) {
      code.add(line({"SHFL.BFLY PT, ", r(other(row)), ", ", r(at_.sum + row), ", ", distance, ", 0x1f"}));
    }
    for (uint32_t row = 0; row < rows(); ++row) {
      code.add(line({"FADD.FTZ ", r(at_.sum + row), ", ", r(at_.sum + row), ", ", r(other(row))}));
    }
  }
  if (plan_.key_warps > 1) add_shared_sums(code);
  for (uint32_t row = 0; row < rows(); ++row) code.add(line({"MUFU.RCP ", r(correction(row)), ", ", r(at_.sum + row)}));
  add_lines(code, rescale());
  if (counted_) add_counted(code, Part::kEpilogue);
  if (plan_.splits > 1) {
    add_partial_output(code);
    return block_of(code);
  }
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
             {.bytes = plan_.bytes_of_rows(kCopyBytes), .stream = kStreamO});
  }
  code.add("EXIT");
  return block_of(code);
}

// assumed: the page table's entries are in L1 after the lookups of neighbouring blocks. One lookup per block, since pages hold
// whole blocks.
Lines FlashAttention2Forward::page_lookup() const {
  if (plan_.page_keys == 0) return {};
  return {{line({"LDG.E.CONSTANT R0, [", r(at_.k_from), ".64]"}), {.l1_hit = true}},
          {line({"IMAD.WIDE R0, R0, 0x100, ", r(at_.k_from)}), {}},
          {line({"IADD3 R2, P1, R0, ", r(at_.v_from), ", RZ"}), {}}};
}

// Combines the warps' sums of O, each over its own keys, through shared memory in the first warp (FlashInfer,
// threadblock_sync_mdo_states). assumed: two values at a time.
void FlashAttention2Forward::add_shared_sums(Code& code) const {
  for (uint32_t i = 0; i < outputs(); i += 2)
    code.add(line({"STS.64 [", r(at_.q), "+", immediate(i * 128), "], ", r(at_.output + i)}));
  for (uint32_t row = 0; row < rows(); ++row)
    code.add(line({"STS [", r(at_.k), "+", immediate(row * 128), "], ", r(at_.sum + row)}));
  add_lines(code, {cta_barrier(plan_)});
  for (uint32_t warp = 0; warp < plan_.key_warps; ++warp) {
    for (uint32_t row = 0; row < rows(); ++row) {
      code.add(line({"LDS ", r(other(row)), ", [", r(at_.k), "+", immediate(warp * 1024 + row * 128), "]"}));
      code.add(line({"MUFU.EX2 ", r(correction(row)), ", ", r(other(row))}));
      code.add(line({"FFMA.FTZ ", r(at_.sum + row), ", ", r(other(row)), ", ", r(correction(row)), ", ", r(at_.sum + row)}));
    }
    for (uint32_t i = 0; i < outputs(); i += 2) {
      code.add(line({"LDS.64 ", r(at_.scores + i % 8), ", [", r(at_.q), "+", immediate(i * 128), "]"}));
      for (uint32_t half = 0; half < 2; ++half) {
        code.add(line({"FFMA.FTZ ", r(at_.output + i + half), ", ", r(at_.scores + i % 8 + half), ", ",
                       r(correction(i / 2 % rows())), ", ", r(at_.output + i + half)}));
      }
    }
  }
}

// With splits: stores O in FP32 through shared memory, only the rows that exist.
void FlashAttention2Forward::add_partial_output(Code& code) const {
  for (uint32_t i = 0; i < outputs(); i += 2)
    code.add(line({"STS.64 [", r(at_.q), "+", immediate(i * 128), "], ", r(at_.output + i)}));
  add_lines(code, {cta_barrier(plan_)});
  for (uint32_t i = 0; i < 2 * query_copies(); ++i) {
    const uint32_t value = at_.output + 4 * (i % (outputs() / 4));
    code.add(line({"LDS.128 ", r(value), ", [", r(at_.q), "+", immediate(i * 512), "]"}));
    code.add(line({"STG.E.128 [", r(at_.k_from), ".64+", immediate(i * 512), "], ", r(value)}),
             {.bytes = plan_.bytes_of_rows(kCopyBytes), .stream = kStreamO});
  }
  code.add("EXIT");
}

std::vector<traces::Node> flash_attention_2_forward_body(const FlashAttention2Plan& plan) {
  return FlashAttention2Forward(plan).body();
}

}  // namespace warpfold::workloads
