// The multiply warp: one thread issues every product of the CTA. After the first block's scores, each step issues, tile after tile,
// P V of the previous block and Q K^T of the current one. One tile's products thus run while the other tile's scores are
// exponentiated:
//
//   S0 S1 | O0 S0 O1 S1 | O0 S0 O1 S1 | ... | O0 O1
//
// P V waits for three quarters of P and, after the products on these, for the last quarter (split_P_arrive). New scores overwrite
// the columns of P without a wait, since the tile's earlier products have read them.
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

class Multiplier {
 public:
  Multiplier(const isa::Architecture& architecture, const Plan& plan) : architecture_(architecture), plan_(plan) {}

  std::vector<traces::Node> body() const {
    Code entry(architecture_);
    add_entry(entry, plan_.other_registers);
    Code first(architecture_);
    add_wait(first, Rings::query_full(0), Cursors::kTile, 0);
    add_wait(first, Rings::kBlockFull, Cursors::kUse, 1);
    add_scores(first, 0);
    add_wait(first, Rings::query_full(1), Cursors::kTile, 1);
    add_scores(first, 1);
    add_release(first);
    Code last(architecture_);
    for (int tile = 0; tile < 2; ++tile) add_commit(last, Rings::query_empty(tile));
    add_wait(last, Rings::kBlockFull, Cursors::kUse, 1);
    for (int tile = 0; tile < 2; ++tile) {
      add_outputs(last, tile);
      add_commit(last, Rings::sums(tile));
    }
    add_release(last);
    return role_body(plan_, entry, {block_of(first), loop_of(step(), {.parameter = Parameters::kMore}), block_of(last)});
  }

 private:
  Code step() const {
    Code code(architecture_);
    add_wait(code, Rings::kBlockFull, Cursors::kUse, 1);
    for (int tile = 0; tile < 2; ++tile) {
      add_outputs(code, tile);
      if (tile == 0) add_wait(code, Rings::kBlockFull, Cursors::kUse, 1);
      if (tile == 1) add_release(code);
      add_scores(code, tile);
    }
    add_release(code);
    return code.add("VIADD R2, R2, -0x1").add("ISETP.GT.AND P1, PT, R2, RZ, PT").add("@P1 BRA `(.L_block)");
  }

  std::string_view pair() const { return plan_.pair ? ".2CTA " : " "; }

  void add_commit(Code& code, int16_t ring) const {
    code.add(line({"UTCBAR", plan_.pair ? ".2CTA.MULTICAST" : "", " [UR16], URZ"}), {.barrier = ring});
  }
  void add_release(Code& code) const {
    code.add(line({"UTCBAR", plan_.pair ? ".2CTA.MULTICAST" : "", " [UR16], URZ"}),
             {.barrier = Rings::kBlockEmpty, .cursor = Cursors::kRelease, .advance = 1});
  }

  // S = Q K^T: both from shared memory.
  void add_scores(Code& code, int tile) const {
    for (uint32_t step = 0; step < plan_.score_steps(); ++step) {
      code.add("UIADD3 UR8, UR8, 0x2, URZ");
      code.add(line({"UTCHMMA", pair(), "gdesc[UR8], gdesc[UR10], tmem[UR12], tmem[UR14], idesc[UR15], UP0"}),
               {.rows = Plan::kTileRows, .columns = Plan::kTileKeys});
    }
    add_commit(code, Rings::scores(tile));
  }

  // O += P V: P from tensor memory.
  void add_outputs(Code& code, int tile) const {
    add_wait(code, Rings::probabilities(tile), Cursors::kBlock, 0);
    for (uint32_t step = 0; step < Plan::output_steps(); ++step) {
      if (step == Plan::early_output_steps()) add_wait(code, Rings::last_quarter(tile), Cursors::kBlock, tile == 1 ? 1 : 0);
      code.add("UIADD3 UR10, UR10, 0x80, URZ");
      code.add(line({"UTCHMMA", pair(), "tmem[UR8], gdesc[UR10], tmem[UR12], tmem[UR14], idesc[UR15], UP0"}),
               {.rows = Plan::kTileRows, .columns = static_cast<uint16_t>(plan_.head_dim())});
    }
  }

  const isa::Architecture& architecture_;
  const Plan& plan_;
};

}  // namespace

std::vector<traces::Node> multiply_body(const isa::Architecture& architecture, const Plan& plan) {
  return Multiplier(architecture, plan).body();
}

}  // namespace warpfold::workloads::attention4
