#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

enum class Timer {
  kCalls,     // successive calls in a stream
  kEvents,    // timer=events: between two events, so the time includes the overhead of the launch and the events
  kGraph,     // timer=graph: successive calls as nodes of a CUDA graph, with the same arrays
  kProfiler,  // timer=kernel: each kernel by a profiler, with its start and end
};

// How a row was timed, as far as its phrases state it.
struct RowTiming {
  Timer timer = Timer::kCalls;
  uint64_t flush_bytes = 0;  // bytes written before each call: L2 then holds dirty lines and none of the inputs
};

// The kernels of a row, one after the other, before the row's settings are applied.
struct RowWork {
  std::string family;
  std::string kernel;
  std::string shape;
  std::string relative;  // Comparison.relative
  std::vector<configs::Kernel> kernels;
  std::vector<configs::Kernel> around;  // kernels that the measured time includes as well; the row's settings do not apply to them
  std::vector<std::vector<configs::Kernel>> before;  // for each kernel, or none: kernels that leave L2 as it finds it, not timed
  std::vector<configs::Kernel> without;  // the row is the ratio of the kernels' time to the time of these; empty: no ratio
  double calls = 1;                      // the row's figure is the time of all kernels, divided by this
  bool gaps = false;                     // the measured time includes a launch between two kernels
  bool launches = false;                 // the measured time includes the kernels' launches: calls follow each other
  double work = 0;
  std::string rate_unit;
  double counted = 0;  // operations that the kernel runs; a figure in clk is the cycles of one. 0: figures in clk are refused
  std::optional<RowTiming> timing;    // timing if the row's phrases state none
  std::vector<std::string> settings;  // settings of the row's machine: "gpu.FIELD=VALUE"
  double clock_mhz = 0;               // 0: the GPU file's clock; a clock that the row states takes precedence
  bool under_cap = false;             // kernels with matrix products run at the clock that the power cap allows
  FollowedFacts follows;
};

Mapped<configs::ElementType> element_type_of(const MeasuredRow& row);
// Type, batch, heads and head dimension of an attention row; `seqlen` as keys.
Mapped<configs::AttentionShape> attention_shape_of(const MeasuredRow& row);
// The same with as many queries as keys, and with `causal`. Not mapped: windows, and values of another width.
Mapped<configs::AttentionShape> square_attention_of_row(const MeasuredRow& row);
// Returns a whole number from a column. Not mapped if the cell is empty or other text.
Mapped<uint64_t> count_of(const MeasuredRow& row, const std::string& column);

// Rows and columns of a tile in the text of `impl`: "cuBLAS, 128 x 256", "nvjet 128x256_128x6_2x1_2cta"; 0 if it states no tile.
struct RowTile {
  uint32_t rows = 0;
  uint32_t columns = 0;
};
RowTile tile_in(std::string_view text);

Mapped<RowTiming> timing_of_row(const MeasuredRow& row);
// Returns the timing that the row's phrases state, or `otherwise` if they state none.
Mapped<RowTiming> timing_of_row(const MeasuredRow& row, const std::optional<RowTiming>& otherwise);
// Inserts the kernel in front of all others.
void put_first(configs::Kernel kernel, configs::Scenario& scenario);
// Adds the memset that precedes a row's kernels.
Mapped<void> flush_before(const RowTiming& timing, const RowWork& work, Comparison& comparison);
// Returns the time between two events beyond the kernel's. Not mapped if the GPU file does not state it.
Mapped<double> events_us(const configs::Gpu& gpu);
// Returns the time of a kernel's start and end at the GPU's clock, which a profiler's time includes beside the instructions. It is
// graph_launch_cycles: nothing but an end and a start lies between two nodes of a graph. On an H100 at 1980 MHz the
// graph has 0.82 us; a fill by one CTA takes 1.02 us in a profile and 0.21 us in the simulation. 0 if the GPU file does not state
// it.
double start_and_end_us(const configs::Gpu& gpu);

// Returns the measured time in microseconds; a rate is converted by the row's work.
Mapped<double> measured_us(const MeasuredRow& row, const RowWork& work, double clock_mhz);
// Returns the comparison for a row that measured board power or a clock.
Mapped<Comparison> measured_power(const MeasuredRow& row, Comparison comparison);

// The kernel in the row's own file, relative to the CSV file: a trace or its text, or a listing with its launch description. A rate
// counts the `flops` of the launch description.
Mapped<RowWork> kernel_file_of_row(const MeasuredRow& row);

// Sets every field of `message` that dims_other or notes name, and appends it to `shape`.
Mapped<void> fill_from_options(const MeasuredRow& row, google::protobuf::Message& message, std::string& shape);

// GEMM. assumed, if the row sets no tile: 128 x 256 x 64 with two-fold multicast. Also assumed: 128 x 128 x 128 for FP8, with
// promoted sums (cuBLASLt's default), and 128 x 128 without multicast up to 256 rows. On Blackwell the time includes successive
// calls, unless a profiler measured the kernel. The clock there is the sustained clock under the power cap, if the GPU file has a
// power model and the row states no clock.
Mapped<RowWork> gemm_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// Doubles a GeForce part's rate of products: it is halved for sums in FP32, but not for integer products (NVIDIA GA102 and AD102
// whitepapers, peak rates) or block-scaled products (gau-nernst/learn-cuda, 08_row_scaled_mm). The peak of the latter two is twice
// the data sheet's for 8 bits.
void run_unhalved(const configs::Gpu& gpu, RowWork& work);
// True if the row ran one CTA on one SM (SEMI's cutlass_gemm_mainloop, 20 launches).
bool of_one_sm(const MeasuredRow& row);
// Fills in a GEMM of Blackwell: tile, CTAs and stages as the row's `impl` states them, otherwise the kernel of its library. Not
// mapped if `impl` states neither.
Mapped<void> fill_blackwell(const MeasuredRow& row, configs::ElementType type, configs::BlackwellGemm& gemm);
// If a matrix has fewer rows than a tile, exchanges A and B, as inference kernels do; the few rows are padded to 32 columns.
void put_few_rows_in_columns(configs::HopperGemm& gemm);

// FlashAttention-2, -3 and -4, by the name of the implementation. The libraries' benchmarks time successive calls
// (flash_attn/utils/benchmark.py), so the time includes launches and the other kernels of a call. These are the kernels before and
// after a backward pass and, if causal, the clearing of FlashAttention-3's tile counter (hopper/flash_api.cpp, torch::zeros).
// FlashAttention-4 runs at the sustained clock under the power cap, if the GPU file has a power model and the row states no clock.
// Other libraries are simulated by a relative (attention_relatives.h), in families of their own. `kv_len` in dims_other is the
// number of keys, if it differs from the number of queries. An overhead of dropout in percent is a ratio of two forward passes.
Mapped<RowWork> attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// Attention by PyTorch's matrix products and softmax, as FlashAttention's benchmarks define their baseline
// (benchmarks/benchmark_flash_attention.py, attention_pytorch): copies of q, k and v, two batched products and a softmax, and if
// causal the addition of a mask. The backward pass has four products. On GPUs before sm_90 a batch is simulated as rows of one
// product. `folder`: launch descriptions.
bool by_torch(const MeasuredRow& row);
Mapped<RowWork> torch_attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder);
// Attention of a decode step by FlashAttention-2, -3 or FlashInfer: one query per head, or N for q=N in dims_other; `seqlen` keys.
// "page N" and "N splits" in the implementation's name are used. Work is the bytes of keys and values.
Mapped<RowWork> decode_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// Attention as LLMServingSim's profiler of 2025 measured it (profiler/v0/profiler/attention/attention_profiler.py at 5daddb2). The
// profiler calls FlashAttention-2's flash_attn_varlen_func without pages and without splits, again and again with the same tensors,
// and adds up the kernels of a profile. The decodes of a row share its `seqlen` keys: each has `kv_len // batch_size`. A prefill
// chunk sees the keys in front of it alone. assumed: each head has tiles of its own, as before FlashAttention-2.5; 32 decodes of 16
// heads take 1.75 times as long as of 8.
bool of_varlen_profiler(const MeasuredRow& row);
Mapped<RowWork> varlen_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// FlashAttention-3 has no dropout of its own (hopper/flash_attn_interface.py takes no probability). A kernel of a row with dropout
// is therefore not mapped unless its settings state the source of its random bits.
Mapped<void> expect_dropout_stated(const MeasuredRow& row, const configs::Kernel& kernel);

// Micro-kernels of published suites, by the row's kernel. They are streams and latency of tcgen05.mma, streams of LDGSTS and of
// bulk loads, tiles that several CTAs read, and passes of a few microseconds launched one after the other.
bool is_micro_row(const MeasuredRow& row);
Mapped<RowWork> micro_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// Chains of mma.sync on 108 SMs, two warps a sub-core (sm120_mma_sparse of lookup1980/microbench-blackwell). Each iteration has one
// packet of one or two dependent products. The source counts `unroll` packets in it, but stores only the first one's result, and
// ptxas removes the others.
Mapped<RowWork> mma_sync_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
// The same with products that ptxas replaces by calls on sm_120: 4-bit integers, and some of mma.sp without ordered metadata. It
// keeps the calls of all packets (configs/kernels/mma_replaced.cu). `kernels`: the folder of listings.
bool is_replaced_product(const MeasuredRow& row);
Mapped<RowWork> replaced_products_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& kernels);

// Philox bits. dims_other holds the fields of configs.Philox: rounds=7;threshold_bits=32;heads=16;queries=4096;keys=4096.
Mapped<RowWork> philox_of_row(const MeasuredRow& row);

// Kernels beside each other, as a row of a published suite names them: the suite's runs, one after the other.
struct RowPair {
  std::string kernel;
  std::string shape;
  std::vector<configs::Scenario> runs;  // without a GPU; paths are relative to the folder of GPU files
  double clock_mhz = 0;                 // 0: the GPU file's clock; a clock that the row states takes precedence
  FollowedFacts follows;
};
// Two FP64 kernels on every SM, two copies in L1, a GEMM beside an all-reduce, or HFuse's kernels. Not mapped for any other row.
Mapped<RowPair> pair_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// HFuse's trace of a V100: a kernel of PyTorch alone, or two of them in one kernel.
Mapped<RowPair> fused_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

// The communication kernel that a row of a profile names beside its own launch ("beside NAME grid=AxBxC"), long enough to outlast a
// kernel of `us` microseconds. `kernels`: the folder of listings. Not mapped if its room or its rate is not known.
Mapped<configs::Kernel> communication_of_row(const MeasuredRow& row, double us, const configs::Gpu& gpu,
                                             const std::string& kernels);

// One pass over arrays. dims_other holds the fields of configs.Elementwise: operation=TRIAD;elements=33554432;element_bytes=8.
Mapped<RowWork> memory_of_row(const MeasuredRow& row);
// An operator as its published row names it: the kernels of its maker, from the launch descriptions in `folder`, timed as in the
// row's source. dims_other need not state a pass.
Mapped<RowWork> operator_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder);

}  // namespace warpfold::validation
