// The instructions of configs/kernels/blackwell_gemm.wfs, for any tile and type. Each role has the instructions that move data and
// wait, and one addition to a descriptor per product. assumed: no compiled kernel was counted. Scale factors go to shared memory,
// and from there to tensor memory by copies of 512 bytes before a block's products.
#include "workloads/blackwell_gemm/roles.h"

#include <utility>

#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kFirstSum = 32;      // R32 and the following registers: destination of LDTM
constexpr uint32_t kFirstPacked = 8;    // R8-R23
constexpr uint32_t kBytesOfStore = 16;  // STS.128
constexpr uint32_t kStoreThreads = 32 * BlackwellPlan::kEpilogueWarps;

isa::Effect at(int16_t ring, int16_t cursor, uint32_t advance = 0) {
  isa::Effect effect;
  effect.barrier = ring;
  effect.cursor = cursor;
  effect.advance = advance;
  return effect;
}

isa::Effect bulk_load(uint32_t bytes, int16_t stream, uint32_t receivers, uint32_t advance) {
  isa::Effect effect = at(BlackwellRings::kFull, BlackwellCursors::kLoad, advance);
  effect.bytes = bytes;
  effect.stream = stream;
  effect.multicast = static_cast<uint8_t>(receivers);
  return effect;
}

Code load_block(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  Code code(architecture);
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3", at(BlackwellRings::kEmpty, BlackwellCursors::kLoad));
  code.add("@!P0 BRA `(.L_empty)");
  isa::Effect expects = at(BlackwellRings::kFull, BlackwellCursors::kLoad);
  expects.tx_bytes = plan.a_load_bytes() + plan.b_load_bytes();
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", expects);
  const auto load = [](uint32_t receivers) { return receivers > 1 ? "UTMALDG.2D.MULTICAST" : "UTMALDG.2D"; };
  code.add(line({load(plan.a_receivers()), " [UR8], [UR4], desc[UR14]"}),
           bulk_load(plan.a_load_bytes(), BlackwellStreams::kA, plan.a_receivers(), 0));
  code.add(line({load(plan.b_receivers()), " [UR12], [UR4], desc[UR14]"}),
           bulk_load(plan.b_load_bytes(), BlackwellStreams::kB, plan.b_receivers(), 1));
  code.add("BRA `(.L_k)");
  return code;
}

std::string product(const BlackwellPlan& plan) {
  const std::string_view kind = plan.element_bits == 16 ? "UTCHMMA" : plan.element_bits == 8 ? "UTCQMMA" : "UTCOMMA";
  const std::string_view pair = plan.cta_group == 2 ? ".2CTA" : "";
  return line({kind, pair, " gdesc[UR8], gdesc[UR10], tmem[UR12], tmem[UR14], idesc[UR15], UP0"});
}

std::string commit(const BlackwellPlan& plan) { return line({"UTCBAR", plan.cta_group == 2 ? ".2CTA" : "", " [UR16], URZ"}); }

Code multiply_block(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  Code code(architecture);
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR7], R3", at(BlackwellRings::kFull, BlackwellCursors::kUse));
  code.add("@!P0 BRA `(.L_full)");
  for (uint32_t copy = 0; copy < plan.scale_copies(); ++copy) {
    code.add(line({"UTCCP.T.S.4x32dp128bit", plan.cta_group == 2 ? ".2CTA" : "", " tmem[UR18], gdesc[UR20]"}),
             {.wavefronts = BlackwellPlan::kScaleCopyBytes / 128});
  }
  isa::Effect shape;
  shape.rows = static_cast<uint16_t>(plan.tile_m);
  shape.columns = static_cast<uint16_t>(plan.tile_n);
  for (uint32_t step = 0; step < plan.k_steps(); ++step) code.add(product(plan), shape).add("UIADD3 UR8, UR8, 0x2, URZ");
  code.add(commit(plan), at(BlackwellRings::kEmpty, BlackwellCursors::kUse, 1)).add("BRA `(.L_k)");
  return code;
}

// Packs `columns` sums per thread into results, in registers from kFirstPacked on. FP32 sums are left in place.
void add_pack(Code& code, const BlackwellPlan& plan, uint32_t columns) {
  if (plan.output_type == configs::FP32) return;
  const std::string_view pack = plan.output_type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
  for (uint32_t i = 0; i < columns; i += 2) {
    code.add(line({pack, general(kFirstPacked + i / 2), ", ", general(kFirstSum + i + 1), ", ", general(kFirstSum + i)}));
  }
}

// Moves some columns of the tile from tensor memory to registers, to shared memory, and to L2.
void add_columns(Code& code, const BlackwellPlan& plan, uint32_t columns) {
  code.add(columns == 32 ? "LDTM.x32 R32, tmem[UR4]" : "LDTM.x16 R32, tmem[UR4]");
  add_pack(code, plan, columns);
  code.add("UTMACMDFLUSH", {.count = BlackwellPlan::kStoreBuffers - 1});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = 1, .count = kStoreThreads});
  const uint32_t first = plan.output_type == configs::FP32 ? kFirstSum : kFirstPacked;
  const uint32_t registers = columns * plan.output_bytes / 4;
  for (uint32_t i = 0; i < registers; i += kBytesOfStore / 4)
    code.add(line({"STS.128 [R", std::to_string(4 + i / 4 % 4), "], ", general(first + i)}));
  code.add("FENCE.VIEW.ASYNC.S");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = 1, .count = kStoreThreads});
  const uint64_t used = uint64_t{plan.tile_m / BlackwellPlan::kEpilogueWarps} * columns * plan.output_bytes * plan.used_rows *
                        plan.used_columns / (uint64_t{plan.tile_m} * plan.tile_n);
  code.add("UTMASTG.2D [UR12], [UR10]",
           {.bytes = std::max(static_cast<uint32_t>(used), BlackwellPlan::kLeastCopyBytes), .stream = BlackwellStreams::kC});
}

// The tiles of a CTA: one, or the number that its class states.
void add_tiles(std::vector<traces::Node>& body, const BlackwellPlan& plan, std::vector<traces::Node> tile) {
  if (plan.persistent) {
    body.push_back(traces::Loop{{.parameter = kTilesParameter}, std::move(tile)});
  } else {
    for (traces::Node& node : tile) body.push_back(std::move(node));
  }
}

// Before a CTA's roles part, all its warps meet. No CTA may use a barrier, its own or another's of the cluster, before it is
// initialised (CUTLASS, sm100_gemm_tma_warpspecialized.hpp; DeepGEMM, sm100_bf16_gemm.cuh; learn-cuda, matmul_v7.cu). assumed: the
// warp that loads initialises them. The allocation of tensor memory is left out, its latency is not published.
traces::Block start(const isa::Architecture& architecture, const BlackwellPlan& plan, bool initialises) {
  Code code(architecture);
  const uint32_t barriers = 2 * (plan.stages + plan.accumulators);
  for (uint32_t b = 0; initialises && b < barriers; ++b) code.add("SYNCS.EXCH.64 URZ, [UR6], UR8");
  code.add("FENCE.VIEW.ASYNC.S");
  if (plan.cluster_ctas() == 1) {
    code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = 32 * BlackwellPlan::kWarps});
  } else {
    isa::Effect meets;
    meets.barrier = BlackwellRings::kStart;
    code.add("UCGABAR_ARV", meets).add("UCGABAR_WAIT", meets);
  }
  return block_of(code);
}

std::vector<traces::Node> whole(const isa::Architecture& architecture, const BlackwellPlan& plan, std::vector<traces::Node> tile,
                                bool initialises = false) {
  std::vector<traces::Node> body{start(architecture, plan, initialises)};
  add_tiles(body, plan, std::move(tile));
  body.push_back(block_of(Code(architecture).add("EXIT")));
  connect(architecture, body);
  return body;
}

}  // namespace

std::vector<traces::Node> load_body(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  return whole(
      architecture, plan,
      {loop_of(load_block(architecture, plan), {.literal = plan.k_blocks}), block_of(Code(architecture).add("BRA `(.L_tile)"))},
      true);
}

std::vector<traces::Node> multiply_body(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  Code start(architecture);
  start.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3", at(BlackwellRings::kFree, BlackwellCursors::kTile));
  start.add("@!P0 BRA `(.L_free)");
  Code end(architecture);
  end.add(commit(plan), at(BlackwellRings::kSums, BlackwellCursors::kTile, 1)).add("BRA `(.L_tile)");
  return whole(architecture, plan,
               {block_of(start), loop_of(multiply_block(architecture, plan), {.literal = plan.k_blocks}), block_of(end)});
}

std::vector<traces::Node> epilogue_body(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  constexpr uint32_t kColumns = BlackwellPlan::kEpilogueColumns;
  Code start(architecture);
  start.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3", at(BlackwellRings::kSums, BlackwellCursors::kOut));
  start.add("@!P0 BRA `(.L_sums)");
  std::vector<traces::Node> tile{block_of(start)};
  if (plan.tile_n >= kColumns) {
    Code columns(architecture);
    add_columns(columns, plan, kColumns);
    columns.add("BRA `(.L_columns)");
    tile.push_back(loop_of(columns, {.literal = plan.tile_n / kColumns}));
  }
  Code end(architecture);
  if (plan.tile_n % kColumns != 0) add_columns(end, plan, plan.tile_n % kColumns);
  end.add("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", at(BlackwellRings::kFree, BlackwellCursors::kOut, 1)).add("BRA `(.L_tile)");
  tile.push_back(block_of(end));
  return whole(architecture, plan, std::move(tile));
}

std::vector<traces::Node> idle_body(const isa::Architecture& architecture, const BlackwellPlan& plan) {
  std::vector<traces::Node> body{start(architecture, plan, false), block_of(Code(architecture).add("EXIT"))};
  connect(architecture, body);
  return body;
}

}  // namespace warpfold::workloads
