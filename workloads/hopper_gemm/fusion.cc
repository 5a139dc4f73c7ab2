// Fused operations of an epilogue, as instructions per sum: scales, bias, activation, residual, scales of a quantised result.
//
// A thread has two neighbouring columns of every 8, in two rows (wgmma's accumulator layout, PTX ISA), so one pair of column values
// serves four sums. Column vectors go through shared memory: the warpgroup that computes the tile loads and stores them once per
// tile (CUTLASS, Sm90RowBroadcast: sm90_visitor_load_tma_warpspecialized.hpp). Row values are loaded into registers
// (Sm90ColBroadcast).
//
// assumed: a bias costs the same if swap_operands makes it a bias of rows. assumed: no compiled epilogue was counted. The sequences
// are the shortest that ptxas makes of the formulas with fast math:
//   scale 1 FMUL; bias 1 FADD, and 2 to widen a pair of 16-bit values; RELU 1 FMNMX
//   GELU   FMUL FFMA FMUL MUFU.TANH FMUL FFMA    x^2, 0.7979 + 0.0357 x^2, times x, tanh, x / 2, (x / 2) tanh + x / 2
//   SILU   FMUL MUFU.EX2 FADD MUFU.RCP FMUL      -1.4427 x, 2^, 1 +, 1 /, times x
//   SWIGLU as SILU of one column, FMUL by its neighbour
//   residual 1 FADD, and 2 to widen a pair; LDSM.x4 for 16 values
//   one factor of the whole result 1 FMUL; by rows: FMNMX of each magnitude, 2 SHFL and FMNMX over the four threads of a row,
//   MUFU.RCP, FMUL of each result
// Eight sums are processed together, and equal steps of their sequences are adjacent, as a list scheduler would place them.
#include <algorithm>
#include <functional>

#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kBatch = 8;         // sums that are processed together
constexpr uint32_t kRows = 2;          // rows per thread in a block of 64
constexpr uint32_t kRowScale = 18;     // R18, R19
constexpr uint32_t kColumnsAStep = 8;  // a step: 8 columns, of which a thread has four sums, two rows x two columns
constexpr uint32_t kSumsAStep = 4;
constexpr uint32_t kGroupThreads = 128;
constexpr uint32_t kGroupWarps = 4;
constexpr uint32_t kSector = 32;
constexpr uint32_t kScaleBytes = 4;         // FP32
constexpr uint32_t kAccessBytes = 16 * 32;  // per warp: 16 bytes per thread

uint32_t row_of(uint32_t sum) { return sum % kSumsAStep / kRows; }

class Fuser {
 public:
  Fuser(Code& code, const HopperPlan& plan, int group) : code_(code), plan_(plan), group_(group) {}

  void start();
  void fuse(Sums sums);
  void quantise_rows();

 private:
  // Registers behind the sums: two for each sum of a batch.
  uint32_t spare(uint32_t i) const { return first_sum(plan_) + plan_.accumulators() + i; }
  void each(uint32_t first, uint32_t count, const std::function<std::string(uint32_t, const std::string&)>& step) {
    for (uint32_t i = 0; i < count; ++i) code_.add(step(i, general(first + i)));
  }
  void load_vector(uint32_t element_bytes, std::string_view place);
  void widen(uint32_t packed, uint32_t to);
  void scale_columns(uint32_t first, uint32_t count);
  void add_bias(uint32_t first, uint32_t count);
  void activate(uint32_t first, uint32_t count);
  void gelu(uint32_t first, uint32_t count);
  void sigmoid(uint32_t first, uint32_t count, uint32_t stride);
  void swiglu(uint32_t first, uint32_t count, uint32_t to);
  void add_residual(Sums sums);

  Code& code_;
  const HopperPlan& plan_;
  int group_;
};

// Loads the tile's part of a column vector and stores it to shared memory; each warp handles a quarter.
void Fuser::load_vector(uint32_t element_bytes, std::string_view place) {
  const uint32_t bytes = plan_.used_columns * element_bytes;
  const uint32_t warp = std::max(kSector, (bytes / kGroupWarps + kSector - 1) / kSector * kSector);
  for (uint32_t done = 0; done < warp; done += kAccessBytes) {
    code_.add(line({"LDG.E.128.CONSTANT R8, [R20.64+", immediate(done), "]"}),
              {.bytes = std::min(warp - done, kAccessBytes), .stream = HopperStreams::kVectors});
    code_.add(line({"STS.128 [R5+", place, "], R8"}));
  }
}

void Fuser::start() {
  const configs::GemmFusion& fused = plan_.fused;
  if (fused.row_scales()) {
    for (uint32_t row = 0; row < kRows; ++row) {
      code_.add(line({"LDG.E.CONSTANT ", general(kRowScale + row), ", [R20.64+", immediate(kSector * row), "]"}),
                {.bytes = kSector, .stream = HopperStreams::kVectors});
    }
  }
  if (fused.column_scales()) load_vector(kScaleBytes, "0x8000");
  if (fused.bias()) load_vector(std::max(plan_.output_bytes, 2U), "0x9000");
  if (!fused.column_scales() && !fused.bias()) return;
  code_.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = static_cast<int16_t>(1 + group_), .count = kGroupThreads});
}

// Converts the two 16-bit values of `packed` to two floats.
void Fuser::widen(uint32_t packed, uint32_t to) {
  if (plan_.output_type == configs::FP16) {
    code_.add(line({"HADD2.F32 ", general(to + 1), ", -RZ, ", general(packed)}));
    code_.add(line({"HADD2.F32 ", general(to), ", -RZ, ", general(packed)}));
    return;
  }
  code_.add(line({"LOP3.LUT ", general(to + 1), ", ", general(packed), ", 0xffff0000, RZ, 0xc0, !PT"}));
  code_.add(line({"IMAD.U32 ", general(to), ", ", general(packed), ", 0x10000, RZ"}));
}

void Fuser::scale_columns(uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i += kSumsAStep)
    code_.add(line({"LDS.64 ", general(spare(i / 2)), ", [R5+", immediate(0x8000 + i * kColumnsAStep), "]"}));
  each(first, count, [&](uint32_t i, const std::string& sum) {
    return line({"FMUL ", sum, ", ", sum, ", ", general(spare(i / kSumsAStep * 2 + i % 2))});
  });
}

void Fuser::add_bias(uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i += kSumsAStep)
    code_.add(line({"LDS ", general(spare(kBatch + i / kSumsAStep)), ", [R5+", immediate(0x9000 + i * 4), "]"}));
  for (uint32_t i = 0; i < count; i += kSumsAStep) widen(spare(kBatch + i / kSumsAStep), spare(i / 2));
  each(first, count, [&](uint32_t i, const std::string& sum) {
    return line({"FADD ", sum, ", ", sum, ", ", general(spare(i / kSumsAStep * 2 + i % 2))});
  });
}

void Fuser::gelu(uint32_t first, uint32_t count) {
  const auto inner = [&](uint32_t i) { return general(spare(i)); };
  each(first, count, [&](uint32_t i, const std::string& x) { return line({"FMUL ", inner(i), ", ", x, ", ", x}); });
  each(first, count, [&](uint32_t i, const std::string&) { return line({"FFMA ", inner(i), ", ", inner(i), ", R16, R17"}); });
  each(first, count, [&](uint32_t i, const std::string& x) { return line({"FMUL ", inner(i), ", ", inner(i), ", ", x}); });
  each(first, count, [&](uint32_t i, const std::string&) { return line({"MUFU.TANH ", inner(i), ", ", inner(i)}); });
  each(first, count, [&](uint32_t, const std::string& x) { return line({"FMUL ", x, ", ", x, ", 0.5"}); });
  each(first, count, [&](uint32_t i, const std::string& x) { return line({"FFMA ", x, ", ", x, ", ", inner(i), ", ", x}); });
}

// Replaces every `stride`-th sum x by x / (1 + exp(-x)).
void Fuser::sigmoid(uint32_t first, uint32_t count, uint32_t stride) {
  const auto all = [&](const std::function<std::string(const std::string&, const std::string&)>& step) {
    for (uint32_t i = 0; i < count; i += stride) code_.add(step(general(first + i), general(spare(i))));
  };
  all([](const std::string& x, const std::string& t) { return line({"FMUL ", t, ", ", x, ", -1.4426950216293335"}); });
  all([](const std::string&, const std::string& t) { return line({"MUFU.EX2 ", t, ", ", t}); });
  all([](const std::string&, const std::string& t) { return line({"FADD ", t, ", ", t, ", 1"}); });
  all([](const std::string&, const std::string& t) { return line({"MUFU.RCP ", t, ", ", t}); });
  all([](const std::string& x, const std::string& t) { return line({"FMUL ", x, ", ", x, ", ", t}); });
}

void Fuser::swiglu(uint32_t first, uint32_t count, uint32_t to) {
  sigmoid(first, count, 2);
  for (uint32_t i = 0; i < count; i += 2)
    code_.add(line({"FMUL ", general(to + i / 2), ", ", general(first + i), ", ", general(first + i + 1)}));
}

void Fuser::activate(uint32_t first, uint32_t count) {
  switch (plan_.fused.activation()) {
    case configs::RELU:
      return each(first, count, [](uint32_t, const std::string& x) { return line({"FMNMX ", x, ", RZ, ", x, ", !PT"}); });
    case configs::GELU:
      return gelu(first, count);
    case configs::SILU:
      return sigmoid(first, count, 1);
    default:
      return;
  }
}

// The residual's sub-tile has the same layout in shared memory as the result's sub-tile.
void Fuser::add_residual(Sums sums) {
  const ResidualRings rings(plan_, group_);
  code_.add("SHF.L.U32 R22, R6, 0x1f, RZ");
  code_.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR48], R22", {.barrier = rings.full, .cursor = rings.cursor});
  code_.add("@!P2 BRA `(.L_wait_residual)");
  constexpr uint32_t kValues = 8;  // per thread and LDSM.x4
  for (uint32_t done = 0; done < sums.count; done += kValues) {
    code_.add(line({"LDSM.16.M88.4 R8, [R5+", immediate(0xa000 + 32 * done), "]"}));
    for (uint32_t i = 0; i < kValues; i += 2) widen(HopperRegisters::kFirstPacked + i / 2, spare(i));
    each(sums.first + done, std::min(kValues, sums.count - done),
         [&](uint32_t i, const std::string& sum) { return line({"FADD ", sum, ", ", sum, ", ", general(spare(i))}); });
  }
  code_.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR45], RZ", {.barrier = rings.empty(), .cursor = rings.cursor, .advance = 1});
}

void Fuser::fuse(Sums sums) {
  const configs::GemmFusion& fused = plan_.fused;
  for (uint32_t done = 0; done < sums.count; done += kBatch) {
    const uint32_t first = sums.first + done;
    const uint32_t count = std::min(kBatch, sums.count - done);
    if (fused.row_scales()) {
      each(first, count, [&](uint32_t i, const std::string& sum) {
        return line({"FMUL ", sum, ", ", sum, ", ", general(kRowScale + row_of(i))});
      });
    }
    if (fused.column_scales()) scale_columns(first, count);
    if (fused.bias()) add_bias(first, count);
    activate(first, count);
    if (fused.activation() == configs::SWIGLU) swiglu(first, count, sums.to + done / 2);
  }
  if (fused.residual()) add_residual(sums);
  if (fused.quantisation() != configs::PER_TENSOR) return;
  each(sums.to, sums.count / plan_.sum_columns(),
       [](uint32_t, const std::string& sum) { return line({"FMUL ", sum, ", ", sum, ", UR55"}); });
}

void Fuser::quantise_rows() {
  const uint32_t results = plan_.accumulators() / plan_.sum_columns();
  const uint32_t of_block = results / plan_.accumulator_blocks();
  for (uint32_t block = 0; block < plan_.accumulator_blocks(); ++block) {
    const uint32_t first = first_sum(plan_) + block * of_block;
    each(first, of_block, [&](uint32_t i, const std::string& sum) {
      const std::string most = general(spare(row_of(i)));
      return line({"FMNMX ", most, ", ", i < kSumsAStep && i % kRows == 0 ? "RZ" : most, ", |", sum, "|, !PT"});
    });
    for (const std::string_view distance : {"0x1", "0x2"}) {  // the four threads of a row
      for (uint32_t row = 0; row < kRows; ++row)
        code_.add(line({"SHFL.BFLY PT, ", general(spare(2 + row)), ", ", general(spare(row)), ", ", distance, ", 0x1f"}));
      for (uint32_t row = 0; row < kRows; ++row)
        code_.add(line({"FMNMX ", general(spare(row)), ", ", general(spare(row)), ", ", general(spare(2 + row)), ", !PT"}));
    }
    for (uint32_t row = 0; row < kRows; ++row) {
      const std::string most = general(spare(row));
      code_.add(line({"FMUL ", most, ", ", most, ", 0.002232142857"}));  // divided by the largest E4M3 value, 448
      code_.add(line({"STG.E [R20.64+", immediate(kSector * row), "], ", most}),
                {.bytes = kSector, .stream = HopperStreams::kScales});
      code_.add(line({"MUFU.RCP ", general(spare(2 + row)), ", ", most}));
    }
    each(first, of_block,
         [&](uint32_t i, const std::string& sum) { return line({"FMUL ", sum, ", ", sum, ", ", general(spare(2 + row_of(i)))}); });
  }
}

}  // namespace

void add_fusion_start(Code& code, const HopperPlan& plan, int group) { Fuser(code, plan, group).start(); }
void add_fusion(Code& code, const HopperPlan& plan, int group, Sums sums) { Fuser(code, plan, group).fuse(sums); }
void add_row_quantisation(Code& code, const HopperPlan& plan) { Fuser(code, plan, 0).quantise_rows(); }

}  // namespace warpfold::workloads
