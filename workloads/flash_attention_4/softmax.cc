// A softmax warpgroup processes the rows of one tile, one row per thread. For each block it proceeds in the library's order
// (softmax_step). It loads S from tensor memory to registers. It computes the row's maximum and the rescaling factor for earlier
// results, which goes to the correction warps. It stores P to tensor memory, notifying the multiply warp at three quarters and at
// the end. Finally, it adds up the row. The instruction mix is that of the same arithmetic compiled for sm_100a (exponentials.cc).
// assumed: the code around the blocks, which follows the source and is short.
#include "workloads/flash_attention_4/softmax.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

class Softmax {
 public:
  Softmax(const isa::Architecture& architecture, const Plan& plan, int tile)
      : architecture_(architecture), plan_(plan), tile_(tile) {}

  std::vector<traces::Node> body() const {
    Code entry(architecture_);
    add_entry(entry, plan_.softmax_registers);
    Code first(architecture_);
    add_wait(first, Rings::statistics_free(tile_), Cursors::kStatistics, 1);
    add_block(first, true, true);
    std::vector<traces::Node> tile{block_of(first)};
    if (plan_.tiles.causal()) {
      tile.push_back(blocks(true, Parameters::kMasked));
      tile.push_back(block_of(Code(architecture_).add("MOV R14, RZ")));
    }
    tile.push_back(blocks(false, Parameters::kFull));
    Code last(architecture_);
    last.add(line({"STS [R0], ", general(Registers::kSum)})).add(line({"STS [R0+0x400], ", general(Registers::kMaximum)}));
    add_statistics(last);
    tile.push_back(block_of(last));
    return role_body(plan_, entry, std::move(tile));
  }

 private:
  traces::Loop blocks(bool masked, int32_t parameter) const {
    Code code(architecture_);
    add_block(code, masked, false);
    code.add("UIADD3 UR50, UR50, -0x1, URZ").add("@P1 BRA `(.L_block)");
    return loop_of(code, {.parameter = parameter});
  }

  // Notifies the correction warps that the rows' scales, or sums, are in shared memory.
  void add_statistics(Code& code) const { code.add("BAR.ARV 0x1, 0x100", {.barrier = Barriers::statistics(tile_), .count = 256}); }

  void add_block(Code& code, bool masked, bool first) const {
    add_mask_load(code, plan_);
    add_wait(code, Rings::scores(tile_), Cursors::kBlock, 1);
    const bool maximum = plan_.maximum_of_load && !masked;
    for (uint32_t fragment = 0; fragment < Plan::kFragments; ++fragment) {
      const std::string scores = general(Registers::score(fragment * Plan::kFragmentScores));
      code.add(line({maximum ? "LDTM.STAT.x32 " : "LDTM.x32 ", scores, ", tmem[UR10]"}));
    }
    if (masked) add_mask(code);
    if (maximum) {
      add_maximum_of_fragments(code);
    } else {
      add_maximum(code);
    }
    add_scale(code, first);
    add_exponentials(code, plan_, 0, Plan::kFragments - 1);
    code.add("FENCE.VIEW.ASYNC.T");
    add_arrival(code, Rings::probabilities(tile_));
    add_exponentials(code, plan_, Plan::kFragments - 1, Plan::kFragments);
    code.add("FENCE.VIEW.ASYNC.T").add("NOP");
    add_arrival(code, Rings::last_quarter(tile_));
    add_wait(code, Rings::statistics_free(tile_), Cursors::kStatistics, 1);
    add_row_sum(code);
  }

  // Masks the keys from a row's limit on: one word of bits for every 32 keys, from which R2P sets seven predicates at a time.
  void add_mask(Code& code) const {
    code.add("VIADD R8, R0, UR51");
    for (uint32_t fragment = 0; fragment < Plan::kFragments; ++fragment) {
      code.add(line({"VIADD R9, R8, ", immediate(32 * fragment)})).add("VIMNMX.S32 R9, RZ, R9, !PT");
      code.add("SHF.R.U32.HI R10, RZ, R9, R10").add("ISETP.LT.U32.AND P0, PT, R9, 0x20, PT").add("SEL R10, R10, RZ, P0");
      for (uint32_t bits = 0; bits < 4; ++bits) {
        code.add("SHF.R.U32.HI R11, RZ, 0x8, R10").add("R2P PR, R11, 0x7f").add("LOP3.LUT P0, RZ, R11, 0x80, RZ, 0xc0, !PT");
        for (uint32_t i = 0; i < 8; ++i) {
          const std::string score = general(Registers::score(32 * fragment + 8 * bits + i));
          code.add(line({"SEL ", score, ", ", score, ", -INF , P", immediate(i < 7 ? i : 0)}));
        }
      }
    }
  }

  // Maximum in four chains, two scores at a time.
  void add_maximum(Code& code) const {
    constexpr uint32_t kChains = 4;
    const auto pair = [](uint32_t i) {
      return line({general(Registers::score(2 * i)), ", ", general(Registers::score(2 * i + 1))});
    };
    const auto chain = [](uint32_t i) { return general(Registers::kWork + i); };
    code.add(line({"FMNMX3.FTZ ", chain(0), ", ", general(Registers::kMaximum), ", ", pair(0), ", !PT"}));
    for (uint32_t i = 1; i < kChains; ++i) code.add(line({"FMNMX.FTZ ", chain(i), ", ", pair(i), ", !PT"}));
    for (uint32_t i = kChains; i < Plan::kTileKeys / 2; ++i)
      code.add(line({"FMNMX3.FTZ ", chain(i % kChains), ", ", chain(i % kChains), ", ", pair(i), ", !PT"}));
    code.add(line({"FMNMX.FTZ ", chain(0), ", ", chain(0), ", ", chain(1), ", !PT"}));
    code.add(line({"FMNMX3.FTZ ", chain(0), ", ", chain(0), ", ", chain(2), ", ", chain(3), ", !PT"}));
  }

  // Maximum of the loads' own maxima and the row's previous maximum.
  void add_maximum_of_fragments(Code& code) const {
    const std::string all = general(Registers::kWork);
    code.add(line({"FMNMX3.FTZ ", all, ", ", general(Registers::score(0)), ", ", general(Registers::score(32)), ", ",
                   general(Registers::score(64)), ", !PT"}));
    code.add(line({"FMNMX3.FTZ ", all, ", ", all, ", ", general(Registers::score(96)), ", R1, !PT"}));
  }

  // Factor that rescales earlier results. If the maximum has grown by no more than a threshold, the old maximum is kept and nothing
  // is rescaled.
  void add_scale(Code& code, bool first) const {
    const std::string maximum = general(Registers::kMaximum);
    const std::string scale = general(Registers::kScale);
    code.add("FSETP.NEU.FTZ.AND P2, PT, R8, -INF , PT").add("FSEL R9, R8, RZ, P2");
    code.add(line({"FADD.FTZ R10, ", maximum, ", -R9"})).add("FMUL.FTZ R10, R10, UR36");
    code.add("FSETP.GE.FTZ.AND P3, PT, R10, -8, PT");
    code.add(line({"FSEL ", maximum, ", ", maximum, ", R8, P3"})).add(line({"FSEL R9, ", maximum, ", R9, P3"}));
    if (!first) {
      code.add(line({"MUFU.EX2 ", scale, ", R10"})).add(line({"FSEL ", scale, ", ", scale, ", 1, !P3"}));
      code.add(line({"STS [R0], ", scale}));
    }
    add_statistics(code);
    for (uint32_t i = 0; i < 2; ++i) code.add(line({"FMUL.FTZ ", general(Registers::kBias + i), ", R9, -UR36"}));
  }

  const isa::Architecture& architecture_;
  const Plan& plan_;
  int tile_;
};

}  // namespace

std::vector<traces::Node> softmax_body(const isa::Architecture& architecture, const Plan& plan, int tile) {
  return Softmax(architecture, plan, tile).body();
}

}  // namespace warpfold::workloads::attention4
