// The correction warpgroup processes the rows of both tiles, with one thread per row. After the first block of a tile it reads, for
// each tile in turn, the factors that rescale the rows' earlier results. If a row of the warp needs it, it rescales O
// (correction_rescale, 16 columns at a time). At the end of a tile it divides O by the row's sum and stores it to shared memory in
// 16 bits (correction_epilogue).
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {
namespace {

using Plan = FlashAttention4Plan;

constexpr uint32_t kColumns = 16;  // columns of O at a time
constexpr uint32_t kOutput = 16;   // first register of O

class Correction {
 public:
  Correction(const isa::Architecture& architecture, const Plan& plan) : architecture_(architecture), plan_(plan) {}

  std::vector<traces::Node> body() const {
    Code entry(architecture_);
    add_entry(entry, plan_.correction_registers);
    // The first tile has nothing to rescale.
    for (int tile = 0; tile < 2; ++tile) add_arrival(entry, Rings::probabilities(tile));
    Code first(architecture_);
    add_statistics(first, 0);
    add_arrival(first, Rings::statistics_free(0));
    add_statistics(first, 1);
    Code last(architecture_);
    add_arrival(last, Rings::statistics_free(1));
    for (int tile = 0; tile < 2; ++tile) add_end(last, tile);
    return role_body(
        plan_, entry,
        {block_of(first),
         traces::Loop{{.parameter = Parameters::kRescaled},
                      {loop_of(step(false), {.parameter = Parameters::kUnscaled}), block_of(step(true))}},
         block_of(Code(architecture_).add("MOV R2, RZ")), loop_of(step(false), {.parameter = Parameters::kRest}), block_of(last)});
  }

 private:
  static void add_statistics(Code& code, int tile) {
    code.add("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100", {.barrier = Barriers::statistics(tile), .count = 256});
  }

  Code step(bool rescales) const {
    Code code(architecture_);
    for (int tile = 0; tile < 2; ++tile) {
      add_statistics(code, tile);
      code.add("LDS R4, [R0]").add("FSETP.GEU.FTZ.AND P1, PT, R4, 1, PT").add("VOTE.ANY R5, PT, !P1");
      code.add("ISETP.NE.AND P2, PT, R5, RZ, PT").add("@!P2 BRA `(.L_kept)");
      if (rescales) {
        for (uint32_t column = 0; column < plan_.head_dim(); column += kColumns) {
          const uint32_t output = add_multiplied(code, column);
          code.add(line({"STTM.x16 tmem[UR10], ", general(output)}));
        }
        code.add("FENCE.VIEW.ASYNC.T");
      }
      add_arrival(code, Rings::probabilities(tile));
      add_arrival(code, Rings::statistics_free(1 - tile));
    }
    return code.add("UIADD3 UR50, UR50, -0x1, URZ").add("@P1 BRA `(.L_block)");
  }

  // Multiplies 16 columns of O by the row's factor. Two such parts are in flight.
  static uint32_t add_multiplied(Code& code, uint32_t column) {
    const uint32_t output = kOutput + column % (2 * kColumns);
    code.add(line({"LDTM.x16 ", general(output), ", tmem[UR10]"}));
    for (uint32_t i = 0; i < kColumns; i += 2)
      code.add(line({"FMUL2.FTZ ", general(output + i), ", ", general(output + i), ", R4"}));
    return output;
  }

  void add_end(Code& code, int tile) const {
    const std::string_view format = plan_.type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
    add_statistics(code, tile);
    code.add("LDS R6, [R0]").add("LDS R7, [R0+0x400]");
    add_arrival(code, Rings::statistics_free(tile));
    code.add("FSETP.NEU.FTZ.AND P1, PT, R6, RZ, PT").add("FSEL R4, R6, 1, P1").add("MUFU.RCP R4, R4").add("MOV R5, R4");
    add_wait(code, Rings::sums(tile), Cursors::kTile, 0);
    add_wait(code, Rings::output_empty(tile), Cursors::kTile, tile == 1 ? 1 : 0);
    for (uint32_t column = 0; column < plan_.head_dim(); column += kColumns) {
      const uint32_t output = add_multiplied(code, column);
      for (uint32_t i = 0; i < kColumns / 2; ++i)
        code.add(line({format, general(output + i), ", ", general(output + 2 * i + 1), ", ", general(output + 2 * i)}));
      for (uint32_t i = 0; i < kColumns / 2; i += 4) code.add(line({"STS.128 [R1], ", general(output + i)}));
    }
    code.add("FENCE.VIEW.ASYNC.S");
    add_arrival(code, Rings::probabilities(tile));
    add_arrival(code, Rings::output_full(tile));
    code.add("MUFU.LG2 R6, R6").add("FFMA.FTZ R6, R7, UR36, R6").add("FMUL.FTZ R6, R6, 0.69314718246459961");
    code.add("STG.E desc[UR4][R10.64], R6", {.bytes = 128, .stream = Streams::kRowStatistics});
  }

  const isa::Architecture& architecture_;
  const Plan& plan_;
};

}  // namespace

std::vector<traces::Node> correction_body(const isa::Architecture& architecture, const Plan& plan) {
  return Correction(architecture, plan).body();
}

}  // namespace warpfold::workloads::attention4
