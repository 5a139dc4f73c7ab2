#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

// How a row was timed, as far as its phrases say so.
struct RowTiming {
  bool events = false;       // timer=events: between two events, so that the time holds what lies between them and the kernel
  bool graph = false;        // timer=graph: calls one behind the other as nodes of a CUDA graph, with the same arrays
  bool kernel = false;       // timer=kernel: the kernels alone, by a profiler
  uint64_t flush_bytes = 0;  // written before each call, so that L2 holds nothing of the inputs, and is full of dirty lines
};

// What a row ran, before its own settings are applied: kernels that run one after the other.
struct RowWork {
  std::string family;
  std::string kernel;
  std::string shape;
  std::vector<configs::Kernel> kernels;
  std::vector<configs::Kernel> around;  // in the measured time as well; no settings of the row are theirs
  bool gaps = false;                    // between kernels, a launch lies in the measured time
  bool launches = false;                // the measured time holds the kernels' launches: calls one behind the other
  double work = 0;
  std::string rate_unit;
  double counted = 0;                 // of these a figure in clk is the cycles of one; 0: no figure in clk is known
  std::optional<RowTiming> timing;    // where the row's phrases say nothing
  std::vector<std::string> settings;  // "gpu.FIELD=VALUE" of the row's machine
  double clock_mhz = 0;               // 0: the GPU file's; a clock that the row states wins
  bool under_cap = false;             // the clock is what the power cap leaves a kernel that multiplies
  FollowedFacts follows;
};

Mapped<configs::ElementType> element_type_of(const MeasuredRow& row);
// A whole number of the column; not mapped where it is missing or another text.
Mapped<uint64_t> count_of(const MeasuredRow& row, const std::string& column);

// Rows and columns of a tile as `impl` says them: "cuBLAS, 128 x 256", "nvjet 128x256_128x6_2x1_2cta"; 0 where it says none.
struct RowTile {
  uint32_t rows = 0;
  uint32_t columns = 0;
};
RowTile tile_in(std::string_view text);

Mapped<RowTiming> timing_of_row(const MeasuredRow& row);
// The timing that the row's phrases state; `otherwise` where they state none.
Mapped<RowTiming> timing_of_row(const MeasuredRow& row, const std::optional<RowTiming>& otherwise);
// The memset that the first of a row's kernels runs behind.
Mapped<void> flush_before(const RowTiming& timing, const RowWork& work, Comparison& comparison);
// What lies between events besides the kernel; not mapped where the GPU does not state it.
Mapped<double> events_us(const configs::Gpu& gpu);

// What the row measured, in microseconds; rates are of the work.
Mapped<double> measured_us(const MeasuredRow& row, const RowWork& work, double clock_mhz);
// The comparison of a row that measured board power or a clock.
Mapped<Comparison> measured_power(const MeasuredRow& row, Comparison comparison);

// The kernel of a row's own file, relative to the CSV file: a trace or its text, or a listing with its launch description. Its rate
// is of the launch description's `flops`.
Mapped<RowWork> kernel_file_of_row(const MeasuredRow& row);

// Sets every field of `message` that dims_other or notes name, and says so in `shape`.
Mapped<void> fill_from_options(const MeasuredRow& row, google::protobuf::Message& message, std::string& shape);

// GEMM. Tiles that the row does not set are assumed: 128 x 256 x 64 with two-fold multicast, 128 x 128 x 128 for FP8, whose sums
// are promoted then (cuBLASLt's default), 128 x 128 without multicast up to 256 rows.
// On Blackwell calls lie one behind the other in the time, unless a profiler measured the kernel, and the clock is what the power
// cap leaves, where the GPU file has a model of power and the row states no clock.
Mapped<RowWork> gemm_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// A GEMM of Blackwell by what the row's `impl` says of its tile, its CTAs and its stages, else by its library; not mapped where it
// says neither.
// One CTA on one SM (SEMI's cutlass_gemm_mainloop, 20 launches).
bool of_one_sm(const MeasuredRow& row);
Mapped<void> fill_blackwell(const MeasuredRow& row, configs::ElementType type, configs::BlackwellGemm& gemm);
// Fewer rows than a tile: A and B change places, as inference kernels do, and the few rows are padded to 32 columns.
void put_few_rows_in_columns(configs::HopperGemm& gemm);

// FlashAttention-2, -3 and -4 by the name of the implementation. The libraries' benchmarks time calls one behind the other
// (flash_attn/utils/benchmark.py), so that launches are in the time, and what a call launches besides: the kernels round a backward
// pass; the filling of FlashAttention-3's tile counter where causal (hopper/flash_api.cpp, torch::zeros).
// FlashAttention-4 runs at the clock that the power cap leaves, where the GPU file has a model of power and the row no clock.
Mapped<RowWork> attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// Attention of a decode step by FlashAttention-2, -3 or FlashInfer: one query a head, or dims_other's q=N; `seqlen` keys. "page N"
// and "N splits" in the name of the implementation count. Work is the bytes of keys and values.
Mapped<RowWork> decode_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// FlashAttention-3 has no dropout of its own (hopper/flash_attn_interface.py takes no probability): once its settings are applied,
// a kernel of a row with dropout says where its bits come from, or is not mapped.
Mapped<void> expect_dropout_stated(const MeasuredRow& row, const configs::Kernel& kernel);

// Micro-kernels of published suites, by the row's kernel: streams of tcgen05.mma and their latency, streams of LDGSTS and TMA,
// tiles that CTAs share, passes of a few microseconds one behind the other.
bool is_micro_row(const MeasuredRow& row);
Mapped<RowWork> micro_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// Philox bits; the fields of configs.Philox stand in dims_other: rounds=7;threshold_bits=32;heads=16;queries=4096;keys=4096.
Mapped<RowWork> philox_of_row(const MeasuredRow& row);

// Kernels beside each other that a row of published suites names: their runs, one after the other.
struct RowPair {
  std::string kernel;
  std::string shape;
  std::vector<configs::Scenario> runs;  // without a GPU; paths are relative to the folder of GPU files
  double clock_mhz = 0;                 // 0: the GPU file's; a clock that the row states wins
  FollowedFacts follows;
};
// Two FP64 kernels on every SM, a GEMM beside an all-reduce; not mapped where the row says neither.
Mapped<RowPair> pair_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// A kernel of PyTorch alone, or two of them in one kernel, of HFuse's trace of a V100.
Mapped<RowPair> fused_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// One pass over arrays; the fields of configs.Elementwise stand in dims_other: operation=TRIAD;elements=33554432;element_bytes=8.
Mapped<RowWork> memory_of_row(const MeasuredRow& row);
// An operator as its published row names it: the kernels of its maker, from the launch descriptions in `folder`, timed as the row's
// source times. dims_other need not state a pass.
Mapped<RowWork> operator_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder);

}  // namespace warpfold::validation
