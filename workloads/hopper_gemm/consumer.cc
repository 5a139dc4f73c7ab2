// A consumer warpgroup of a Hopper GEMM: wgmma on the filled stages, then the epilogue through shared memory and TMA.
//
// The instruction mix of one k-block is that of CUTLASS 4.7.0's sm_90 kernels (fp16, CUDA 13.0, counted in its disassembly). A
// cooperative kernel has 48 instructions with 4 wgmma; a ping-pong kernel of 128x128 has 57 with 8. Each further wgmma costs one
// UIADD3 and one UMOV for its descriptors. The order and the registers are ours. All four warps of the group run every instruction.
// assumed: the code outside the k-block, which was not counted and follows CUTLASS's structure. In that structure the first k-block
// is peeled, one wgmma group is in flight, a stage is released one k-block behind, and the epilogue is a linear combination without
// a source matrix.
#include <iterator>

#include "workloads/common/program.h"
#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kDescriptorQuads = 8;  // UR4-UR35: four uniform registers hold the descriptors of A and B
constexpr uint32_t kFirstQuad = 4;

class Consumer {
 public:
  Consumer(const isa::Architecture& architecture, const HopperPlan& plan, int group)
      : architecture_(architecture), plan_(plan), group_(static_cast<int16_t>(group)) {}

  std::vector<traces::Node> body() const;

 private:
  // k-blocks of the other warpgroup's tile. In the ring they lie between two tiles of this warpgroup.
  uint32_t skipped() const { return plan_.pingpong ? static_cast<uint32_t>(plan_.k_blocks) : 0; }
  uint32_t wgmmas() const { return plan_.k_steps() * plan_.accumulator_blocks(); }

  void add_entry(Code& code) const;
  void add_tile_start(Code& code) const;
  void add_tile_end(Code& code) const;
  void add_k_block(Code& code, bool first) const;
  void add_wait(Code& code) const;
  void add_promotion(Code& code, bool first) const;
  void add_release(Code& code, uint32_t advance) const;
  void add_order_wait(Code& code, int16_t ring, int16_t cursor) const;
  void add_order_arrive(Code& code, int16_t ring) const;
  void add_epilogue(Code& code) const;
  std::vector<traces::Node> tile() const;
  std::vector<traces::Node> serial_parts(const Code& epilogue) const;
  std::vector<traces::Node> products(traces::TripCount further) const;
  std::vector<traces::Node> scaled_products(traces::TripCount k_blocks) const;
  void add_products_end(Code& code) const;
  std::vector<traces::Node> piece(bool ends) const;

  const isa::Architecture& architecture_;
  const HopperPlan& plan_;
  int16_t group_;
};

void Consumer::add_entry(Code& code) const {
  code.add("S2R R0, SR_TID.X").add("S2UR UR6, SR_CTAID.X").add("ULDC.64 UR42, c[0x0][0x210]").add("SHF.R.U32.HI R1, RZ, 0x5, R0");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = static_cast<uint16_t>(plan_.threads())});
  code.add(line({"USETMAXREG.TRY_ALLOC.CTAPOOL ", immediate(plan_.consumer_registers)}),
           {.count = static_cast<uint16_t>(plan_.consumer_registers)});
  code.add("MOV R2, RZ").add("MOV R6, RZ").add("MOV R7, UR6").add("LDC R16, c[0x0][0x520]").add("LDC R17, c[0x0][0x528]");
  code.add("UMOV UR36, 0x400").add("UMOV UR37, 0x400").add("UMOV UR38, URZ").add("UMOV UR39, 0x800").add("UMOV UR40, 0x18800");
  code.add("UMOV UR41, URZ")
      .add("ULDC UR55, c[0x0][0x52c]")
      .add("LOP3.LUT R5, R0, 0x7f, RZ, 0xc0, !PT")
      .add("SHF.L.U32 R5, R5, 0x4, RZ");
}

// Tile coordinates from the linear tile number. assumed: two divisions by multiplication, and the swizzle.
void Consumer::add_tile_start(Code& code) const {
  code.add("IMAD.HI.U32 R18, R7, R16, RZ").add("SHF.R.U32.HI R18, RZ, 0x5, R18").add("IMAD R19, R18, -0x21, R7");
  code.add("IMAD.HI.U32 R20, R19, R16, RZ").add("LOP3.LUT R21, R19, 0x7, RZ, 0xc0, !PT").add("SHF.L.U32 R20, R20, 0x7, RZ");
  code.add("SHF.L.U32 R21, R21, 0x7, RZ").add("MOV R4, R17");
  if (plan_.grouped && plan_.masked) add_group_lookup(code);
}

void Consumer::add_tile_end(Code& code) const {
  if (!plan_.persistent) return;
  code.add("VIADD R7, R7, 0x84").add("ISETP.GE.AND P0, PT, R7, R17, PT").add("@!P0 BRA `(.L_tile)");
}

// The first check is the early one whose result CUTLASS keeps as a token; it can already block the warp for a while.
void Consumer::add_wait(Code& code) const {
  const auto read = static_cast<int16_t>(HopperCursors::kRead + group_);
  code.add("SHF.L.U32 R3, R2, 0x1f, RZ").add("ULEA UR44, UR38, UR37, 0x3");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = HopperRings::kFull, .cursor = read});
  code.add("@P0 BRA `(.L_ready)");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = HopperRings::kFull, .cursor = read, .advance = 1});
  code.add("ULEA UR46, UR38, UR39, 0xa").add("ULEA UR47, UR38, UR40, 0xa");
  code.add("UIADD3 UR46, UR46, 0x400, URZ").add("UIADD3 UR47, UR47, 0x400, URZ");
  code.add("@!P0 BRA `(.L_wait_full)");
}

void Consumer::add_release(Code& code, uint32_t advance) const {
  code.add("ULEA UR45, UR41, UR37, 0x3").add("UIADD3 UR45, UR45, 0x40, URZ").add("UPRMT UR45, UR36, 0x654, UR45");
  code.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR45], RZ",
           {.barrier = HopperRings::kEmpty, .cursor = static_cast<int16_t>(HopperCursors::kRelease + group_), .advance = advance});
}

// Waits for the tensor core to finish the k-block, then adds its partial sums to the tile's sums.
void Consumer::add_promotion(Code& code, bool first) const {
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  for (uint32_t i = 0; i < plan_.accumulators(); ++i) {
    const std::string sum = general(first_sum(plan_) + i);
    code.add(line({"FADD ", sum, ", ", first ? "RZ" : sum, ", ", general(HopperRegisters::kFirstAccumulator + i)}));
  }
}

// `first`: the k-block that initialises the accumulators and has no earlier stage to release.
void Consumer::add_k_block(Code& code, bool first) const {
  const bool counted_128 = !plan_.pingpong && plan_.tile_n <= 128;  // cooperative 128x128 recomputes its shared-memory window
  if (counted_128) code.add("S2UR UR54, SR_CGACTAID").add("UMOV UR53, 0x400").add("ULEA UR37, UR54, UR53, 0x18");
  add_wait(code);
  code.add("WARPGROUP.ARRIVE");
  for (uint32_t i = 0; i < wgmmas(); ++i) add_wgmma(code, plan_, i, first);
  if (!plan_.pingpong && plan_.tile_n > 128) code.add("NOP").add("NOP").add("NOP");
  code.add("UIADD3 UR38, UR38, 0x1, URZ").add(line({"UISETP.NE.AND UP0, UPT, UR38, ", immediate(plan_.stages), ", UPT"}));
  code.add("USEL UR52, URZ, 0x1, UP0").add("USEL UR38, UR38, URZ, UP0").add("LOP3.LUT R2, R2, UR52, RZ, 0x3c, !PT");
  if (plan_.promoted) add_promotion(code, first);
  if (first) return;
  if (!plan_.promoted) code.add("WARPGROUP.DEPBAR.LE gsb0, 0x1", {.count = 1});
  add_release(code, 1);
  code.add("UIADD3 UR41, UR41, 0x1, URZ")
      .add(line({"UISETP.NE.AND UP1, UPT, UR41, ", immediate(plan_.stages), ", UPT"}))
      .add("USEL UR41, UR41, URZ, UP1");
  code.add("ISETP.GT.AND P1, PT, R4, 0x1, PT").add("VIADD R4, R4, -0x1").add("@P1 BRA `(.L_k_block)");
}

void Consumer::add_order_wait(Code& code, int16_t ring, int16_t cursor) const {
  if (!plan_.pingpong) return;
  code.add("SHF.L.U32 R22, R6, 0x1f, RZ").add("UIADD3 UR48, UR37, 0x80, URZ");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR48], R22",
           {.barrier = static_cast<int16_t>(ring + group_), .cursor = cursor, .advance = 1});
  code.add("@!P2 BRA `(.L_wait_order)");
}

void Consumer::add_order_arrive(Code& code, int16_t ring) const {
  if (!plan_.pingpong) return;
  code.add("UIADD3 UR48, UR37, 0x88, URZ");
  code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR48], RZ", {.barrier = static_cast<int16_t>(ring + 1 - group_)});
}

// Nodes: tile start with the loads of B's scales | k-blocks
std::vector<traces::Node> Consumer::scaled_products(traces::TripCount k_blocks) const {
  Code head(architecture_);
  add_tile_start(head);
  add_scaled_tile_start(head, plan_);
  if (plan_.whole_tile) add_whole_tile_wait(head, plan_);
  Code pass(architecture_);
  add_scaled_k_block(pass, plan_, group_);
  return {block_of(head), loop_of(pass, k_blocks)};
}

// Nodes: tile start and first k-block | further k-blocks
std::vector<traces::Node> Consumer::products(traces::TripCount further) const {
  Code head(architecture_);
  add_tile_start(head);
  if (plan_.whole_tile) add_whole_tile_wait(head, plan_);
  add_order_wait(head, HopperRings::kMainOrder, HopperCursors::kMainOrder);
  add_k_block(head, true);
  std::vector<traces::Node> nodes{block_of(head)};
  if (further.parameter >= 0 || further.literal > 0) {
    Code pass(architecture_);
    add_k_block(pass, false);
    nodes.push_back(loop_of(pass, further));
  }
  return nodes;
}

// Nodes: wait for the turn | add the sums of earlier parts | store the sums for the next part | or run the epilogue
std::vector<traces::Node> Consumer::serial_parts(const Code& epilogue) const {
  Code poll(architecture_);
  add_turn_poll(poll);
  Code addition(architecture_);
  add_part_addition(addition, plan_);
  Code store(architecture_);
  add_part_store(store, plan_, HopperStreams::kPartsWritten);
  add_turn_end(store, group_);
  using Parameters = HopperParameters;
  return {loop_of(poll, {.parameter = Parameters::kPolls}), loop_of(addition, {.parameter = Parameters::kAdds}),
          loop_of(store, {.parameter = Parameters::kStores}), loop_of(epilogue, {.parameter = Parameters::kEnds})};
}

void Consumer::add_epilogue(Code& code) const {
  if (plan_.split() && plan_.parallel_parts)
    add_part_store(code, plan_, HopperStreams::kC);
  else if (plan_.whole_tile)
    add_whole_tile_epilogue(code, plan_, group_);
  else
    add_sub_tile_epilogue(code, plan_, group_);
}

void Consumer::add_products_end(Code& code) const {
  if (plan_.scaled) return;
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_release(code, 1 + skipped());
}

// Stream-K: a part of a tile. If `ends`, this CTA adds the sums of the tile's other CTAs and runs the epilogue; otherwise it stores
// its sums for the CTA that ends the tile.
std::vector<traces::Node> Consumer::piece(bool ends) const {
  using Parameters = HopperParameters;
  const int32_t all = ends ? Parameters::kEnded : Parameters::kBegun;
  const int32_t rest_of_them = ends ? Parameters::kEndedRest : Parameters::kBegunRest;
  std::vector<traces::Node> nodes = plan_.scaled ? scaled_products({.parameter = all}) : products({.parameter = rest_of_them});
  Code rest(architecture_);
  add_products_end(rest);
  if (ends) {
    add_turn_poll(rest);
    add_part_addition(rest, plan_);
    add_epilogue(rest);
  } else {
    add_part_store(rest, plan_, HopperStreams::kPartsWritten);
    add_turn_end(rest, group_);
  }
  nodes.push_back(block_of(rest));
  return {traces::Loop{{.parameter = ends ? Parameters::kHasEnded : Parameters::kHasBegun}, std::move(nodes)}};
}

// Nodes: products | wait for the last wgmma group, release its stage, epilogue
std::vector<traces::Node> Consumer::tile() const {
  std::vector<traces::Node> nodes =
      plan_.scaled ? scaled_products({.literal = plan_.k_blocks}) : products({.literal = plan_.k_blocks - 1});
  Code rest(architecture_);
  add_order_arrive(rest, HopperRings::kMainOrder);
  add_products_end(rest);
  if (plan_.pingpong) {
    rest.add(line({"UIADD3 UR38, UR38, ", immediate(skipped() % plan_.stages), ", URZ"}),
             {.cursor = static_cast<int16_t>(HopperCursors::kRead + group_), .advance = skipped()});
  }
  add_order_wait(rest, HopperRings::kEpilogueOrder, HopperCursors::kEpilogueOrder);
  if (plan_.split() && !plan_.parallel_parts) {
    nodes.push_back(block_of(rest));
    Code epilogue(architecture_);
    add_epilogue(epilogue);
    std::vector<traces::Node> parts = serial_parts(epilogue);
    nodes.insert(nodes.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    return nodes;
  }
  add_epilogue(rest);
  add_order_arrive(rest, HopperRings::kEpilogueOrder);
  rest.add("LOP3.LUT R6, R6, 0x1, RZ, 0x3c, !PT");
  add_tile_end(rest);
  nodes.push_back(block_of(rest));
  return nodes;
}

std::vector<traces::Node> Consumer::body() const {
  Code entry(architecture_);
  add_entry(entry);
  std::vector<traces::Node> nodes{block_of(entry)};
  std::vector<traces::Node> tile_nodes = tile();
  if (plan_.persistent) {
    const int32_t tiles = plan_.pingpong ? HopperParameters::kTilesOfGroup + group_ : HopperParameters::kTiles;
    nodes.push_back(traces::Loop{{.parameter = tiles}, std::move(tile_nodes)});
    for (const bool ends : {true, false}) {
      if (!plan_.stream_k) break;
      std::vector<traces::Node> part = piece(ends);
      nodes.insert(nodes.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
  } else {
    nodes.insert(nodes.end(), tile_nodes.begin(), tile_nodes.end());
  }
  nodes.push_back(block_of(Code(architecture_).add("UTMACMDFLUSH").add("EXIT")));
  connect(architecture_, nodes);
  return nodes;
}

}  // namespace

void add_wgmma(Code& code, const HopperPlan& plan, uint32_t index, bool first) {
  const uint32_t quad = kFirstQuad + 4 * (index % kDescriptorQuads);
  const uint32_t step = index / plan.accumulator_blocks();
  const uint32_t block = index % plan.accumulator_blocks();
  code.add(line({"UIADD3 ", uniform(quad), ", UR46, ", immediate(2 * index), ", URZ"}));
  code.add(line({"UMOV ", uniform(quad + 1), ", 0x40000040"}));
  if (index < 4) code.add(line({"UMOV ", uniform(quad + 3), ", 0x40000040"}));
  if (index < 2) code.add(line({"UMOV ", uniform(quad + 2), ", UR47"}));
  const bool last = index + 1 == plan.k_steps() * plan.accumulator_blocks();
  const std::string accumulator = general(HopperRegisters::kFirstAccumulator + block * plan.accumulators_per_block());
  const bool clears = (first || plan.promoted) && step == 0;  // the accumulator's old value is ignored
  code.add(line({wgmma_name(plan.type, plan.warpgroup_columns()), " ", accumulator, ", gdesc[", uniform(quad), "], ", accumulator,
                 clears ? ", !UPT" : ", UPT", last ? ", gsb0" : ""}),
           {.commit = last});
}

std::vector<traces::Node> consumer_body(const isa::Architecture& architecture, const HopperPlan& plan, int group) {
  return Consumer(architecture, plan, group).body();
}

}  // namespace warpfold::workloads
