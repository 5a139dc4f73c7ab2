#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "configs/architecture.h"
#include "configs/escape/quoted.h"
#include "configs/gemm_library.h"

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

constexpr uint64_t kFewRows = 256;

// Assumes a kernel if no library made the row.
void assume_hopper(const MeasuredRow& row, configs::ElementType type, configs::HopperGemm& gemm) {
  const bool fp8 = type == configs::FP8;
  const bool few = gemm.m() <= kFewRows;
  gemm.set_type(type);
  gemm.set_tile_m(128);
  gemm.set_tile_n(few || fp8 ? 128 : 256);
  gemm.set_tile_k(fp8 ? 128 : 64);
  gemm.set_schedule(configs::COOPERATIVE);
  gemm.set_persistent(true);
  gemm.set_cluster_m(few ? 1 : 2);
  gemm.set_cluster_n(1);
  gemm.set_swizzle(8);  // assumed: CUTLASS's largest band
  if (fp8) gemm.set_output_type(row.text("dtype").ends_with("->fp8") ? configs::FP8 : configs::BF16);
}

// Takes the library's fastest kernel, with the row's tile if it states one. assumed, without a library and on sm_80: 128 x 128 in
// four stages. An A100's cuBLAS takes 128 x 256 at every size. But the recorded loop of that tile is 5 % slower than cuBLAS's. In
// addition, the A100's energies were fitted with 128 x 128 (D107). assumed, with fewer rows than a tile: the smallest recorded
// tile, 64 x 64. Its rows beyond the matrix are loaded and stored like the others.
void fill_ampere(const MeasuredRow& row, configs::ElementType type, const std::string& architecture, configs::AmpereGemm& gemm) {
  gemm.set_type(type);
  gemm.set_swizzle(8);  // assumed: CUTLASS's largest band
  const configs::GemmLibrary* library = configs::gemm_library_of(row.text("impl"), architecture);
  if (library == nullptr || architecture == "sm_80") {
    gemm.set_tile_k(type == configs::TF32 ? 16 : type == configs::INT8 || type == configs::FP8 ? 64 : 32);
    gemm.set_stages(4);
    if (gemm.m() >= 128 || !row.text("set").empty()) return;
    gemm.set_m(std::max<uint64_t>(gemm.m(), 64));
    gemm.set_tile_m(64);
    gemm.set_tile_n(64);
    gemm.set_stages(10);
    return;
  }
  gemm.set_tile(configs::AUTO);
  gemm.set_library(library->name());
  const RowTile tile = tile_in(row.text("impl"));
  if (tile.rows == 0) return;
  gemm.set_tile_m(tile.rows);
  gemm.set_tile_n(tile.columns);
}

// Element types that only products have.
Mapped<configs::ElementType> product_type_of(const MeasuredRow& row) {
  const std::string& text = row.text("dtype");
  if (text == "fp32" || text == "float32") return configs::FP32;
  if (text == "tf32") return configs::TF32;
  if (text == "int8" || text == "s8") return configs::INT8;
  // Modules of a published model (meta-llama/Llama-3*, config.json: torch_dtype bfloat16).
  if (text.empty() && row.text("impl").find("of meta-llama/Llama-3") != std::string::npos) return configs::BF16;
  return element_type_of(row);
}

// Replaces a type that a generator lacks by a type with the same instruction count and bytes. Both wgmma and tcgen05.mma take TF32
// at half of BF16's rate, in instructions of half the depth (PTX ISA: kind::tf32, wgmma k8). BF16 with twice the depth therefore
// has equally many instructions and bytes. On Hopper, wgmma takes INT8 as it takes FP8 without promotion of sums (H100 data sheet:
// the same peak). The results then have half the width. Blackwell's parts differ in their rate for INT8, so INT8 is not mapped
// there.
Mapped<configs::ElementType> as_type_of_same_bytes(configs::ElementType type, const std::string& architecture, uint64_t& k) {
  if (type == configs::TF32) {
    k *= 2;
    return configs::BF16;
  }
  if (type == configs::INT8 && architecture == "sm_90") return configs::FP8;
  if (type == configs::INT8) return not_mapped("no GEMM of INT8 for " + architecture);
  return type;
}

// FP32 on the FMA pipe: takes the library's fastest kernel. A row that no library made states its tile (set).
Mapped<void> fill_simt(const MeasuredRow& row, configs::AmpereGemm& gemm) {
  gemm.set_type(configs::FP32);
  if (row.text("impl") == "profile" || !row.text("set").empty()) return {};
  const configs::GemmLibrary* library = configs::gemm_library_of(row.text("impl"), "sm_80");
  if (library == nullptr) return not_mapped("no kernel for a GEMM of FP32 by " + escape::quoted(row.text("impl")));
  gemm.set_tile(configs::AUTO);
  gemm.set_library(library->name());
  return {};
}

std::optional<uint64_t> count_in(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

// Reads the groups of a row. dims_other: groups=8;M_per_group=4096, with the layout in the kernel's name. Column batch: the number
// of products of M x N x K.
std::optional<configs::GroupedGemm> groups_of(const MeasuredRow& row) {
  const auto groups = count_in(row.option("groups"));
  configs::GroupedGemm grouped;
  if (const auto batch = row.count("batch"); !groups && batch.value_or(1) > 1) {
    grouped.set_groups(*batch);
    grouped.set_layout(configs::BATCHED);
    return grouped;
  }
  if (!groups) return std::nullopt;
  grouped.set_groups(*groups);
  const std::string& kernel = row.text("kernel");
  const bool masked = kernel.find("masked") != std::string::npos;
  grouped.set_layout(masked                                       ? configs::MASKED
                     : kernel.find("atched") != std::string::npos ? configs::BATCHED
                                                                  : configs::CONTIGUOUS);
  return grouped;
}

// Adds the fused operations that the kernel's name states: "GEMM+bias+GELU".
void fuse(const MeasuredRow& row, configs::HopperGemm& gemm) {
  std::string name = row.text("kernel");
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const auto says = [&](std::string_view word) { return name.find("+" + std::string(word)) != std::string::npos; };
  if (says("bias")) gemm.mutable_fused()->set_bias(true);
  if (says("residual")) gemm.mutable_fused()->set_residual(true);
  if (says("relu")) gemm.mutable_fused()->set_activation(configs::RELU);
  if (says("gelu")) gemm.mutable_fused()->set_activation(configs::GELU);
  if (says("silu")) gemm.mutable_fused()->set_activation(configs::SILU);
  if (says("swiglu")) gemm.mutable_fused()->set_activation(configs::SWIGLU);
}

// Adds a quantisation that the measured time includes: a pass that reads and writes each element in 16 bits. assumed: a pass like
// SCALE; TransformerEngine writes 8 bits twice, once transposed.
void add_quantisation(const std::string& name, uint64_t elements, RowWork& work) {
  configs::Kernel& kernel = work.around.emplace_back();
  kernel.set_name(name);
  kernel.mutable_elementwise()->set_operation(configs::SCALE);
  kernel.mutable_elementwise()->set_elements(elements);
  kernel.mutable_elementwise()->set_element_bytes(2);
  work.gaps = true;
}

// Adds quantisation of activations ("dyn token quant incl.", "incl. activation quant"), and of activations and weights in
// TransformerEngine's modules.
void quantise_first(const MeasuredRow& row, uint64_t activations, uint64_t weights, RowWork& work) {
  const std::string& implementation = row.text("impl");
  const auto says = [&](std::string_view word) { return implementation.find(word) != std::string::npos; };
  const bool engine = says("autocast") || says("Transformer Engine Linear");
  const bool narrow = !row.text("dtype").starts_with("bf16") && !row.text("dtype").starts_with("fp16");
  const bool included = says("quant") && (says("dyn") || says("incl"));
  if (included || (engine && narrow)) add_quantisation("quantisation", activations, work);
  if (engine && narrow) add_quantisation("weights", weights, work);
}

// Adds the pass by which a call narrows the product's FP32 result to 16 bits: cast=16 in dims_other.
void narrow_result(const MeasuredRow& row, uint64_t elements, RowWork& work) {
  if (row.option("cast") != "16") return;
  configs::Kernel& kernel = work.around.emplace_back();
  kernel.set_name("cast");
  kernel.mutable_elementwise()->set_operation(configs::NARROW);
  kernel.mutable_elementwise()->set_elements(elements);
  work.gaps = true;
}

// True for vLLM's benchmarks/kernels/bench_fp8_gemm.py and bench_nvfp4_gemm.py: Triton's do_bench_cudagraph, a graph of calls with
// the same arrays.
bool by_graph(const MeasuredRow& row) { return row.text("source").find("vllm-project/vllm/pull") != std::string::npos; }

// True for gb300-microbench: two and ten launches, some milliseconds, which end before the clock falls (docs/power.md).
bool in_a_burst(const MeasuredRow& row) { return row.text("source").find("gb300-microbench") != std::string::npos; }

bool by_profiler(const MeasuredRow& row) {
  return row.text("location").find("Nsight") != std::string::npos || row.text("how_read").find("Nsight") != std::string::npos;
}

// True if A and B of the previous call are still in L2. Larger matrices evict themselves.
bool stays_in_l2(const configs::BlackwellGemm& gemm, const configs::Gpu& gpu) {
  const uint64_t bits = gemm.type() == configs::FP4 ? 4 : gemm.type() == configs::FP8 ? 8 : 16;
  return (gemm.m() + gemm.n()) * gemm.k() * bits / 8 <= gpu.l2().bytes();
}

Mapped<void> time_blackwell(const MeasuredRow& row, const configs::Gpu& gpu, configs::Kernel& kernel, RowWork& work) {
  const auto timing = timing_of_row(row, RowTiming{.timer = by_graph(row)      ? Timer::kGraph
                                                            : by_profiler(row) ? Timer::kProfiler
                                                                               : Timer::kCalls});
  if (!timing) return std::unexpected(timing.error());
  const bool same_arrays = timing->timer == Timer::kGraph || of_one_sm(row) || in_a_burst(row) || row.option("l2") == "warm";
  if (same_arrays && stays_in_l2(kernel.blackwell_gemm(), gpu)) kernel.set_l2(configs::WARM);
  work.timing = *timing;
  work.launches = true;
  work.follows.emplace("state of L2");
  if (of_one_sm(row)) work.follows.insert({"tile", "stages", "grid"});
  if (of_one_sm(row)) work.clock_mhz = 1300;  // the clock by which the source computes its peak (plot_results.py)
  const bool has_model = gpu.power().gpu() == gpu.name();
  if (has_model && !in_a_burst(row) && !of_one_sm(row) && !row.clock_mhz()) work.settings.emplace_back("gpu.clock=POWER");
  return {};
}

}  // namespace

void run_unhalved(const configs::Gpu& gpu, RowWork& work) {
  if (!gpu.name().starts_with("GeForce") || !gpu.sm().tensor().has_scale()) return;
  work.settings.emplace_back("gpu.sm.tensor.scale=1");
  if (gpu.data_sheet().has_fp8_tflops())
    work.settings.push_back("gpu.data_sheet.fp8_tflops=" + std::to_string(2 * gpu.data_sheet().fp8_tflops()));
}

Mapped<RowWork> gemm_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& architecture = gpu.architecture();
  if (row.text("impl").starts_with("hand-written") && row.text("set").empty())
    return not_mapped("a hand-written kernel is no library's: name its kernel_file, or its tile (set)");
  const auto m = count_of(row, "M");
  if (!m) return std::unexpected(m.error());
  const auto n = count_of(row, "N");
  if (!n) return std::unexpected(n.error());
  const auto k = count_of(row, "K");
  if (!k) return std::unexpected(k.error());
  auto type = product_type_of(row);
  if (!type) return std::unexpected(type.error());
  const auto grouped = groups_of(row);
  const uint64_t rows = grouped ? count_in(row.option("M_per_group")).value_or(*m) : *m;
  const uint64_t groups = grouped ? grouped->groups() : 1;
  RowWork work;
  const bool few = std::min({rows, *n, *k}) <= kFewRows;
  work.family = few ? "GEMM, a dimension of 256 or less" : "GEMM";
  work.kernel = grouped ? "grouped GEMM" : work.family;
  work.shape = row.text("dtype") + " " + row.text("M") + "x" + row.text("N") + "x" + row.text("K");
  work.work = 2 * static_cast<double>(groups * rows) * static_cast<double>(*n) * static_cast<double>(*k);
  work.rate_unit = "TFLOPS";
  configs::Kernel kernel;
  kernel.set_name("gemm");
  uint64_t depth = *k;
  const auto fill_shape = [&](auto& gemm) {
    gemm.set_m(rows);
    gemm.set_n(*n);
    gemm.set_k(depth);
  };
  const auto no_gemm = [&] { return not_mapped("no GEMM of " + configs::ElementType_Name(*type) + " for " + architecture); };
  const bool mma_sync = row.text("impl").find("mma.sync") != std::string::npos;
  const bool by_mma_sync = mma_sync || configs::product_family(architecture) == configs::ProductFamily::kMmaSync;
  const bool integers = *type == configs::INT8;
  if (!by_mma_sync) type = as_type_of_same_bytes(*type, architecture, depth);
  if (!type) return std::unexpected(type.error());
  if (*type == configs::FP32) {
    work.family = "GEMM of FP32";
    work.kernel = work.family;
    configs::AmpereGemm& gemm = *kernel.mutable_ampere_gemm();
    fill_shape(gemm);
    if (grouped && grouped->layout() != configs::BATCHED) return not_mapped("no grouped GEMM of FP32 but batched ones");
    if (grouped) *gemm.mutable_grouped() = *grouped;
    if (const auto filled = fill_simt(row, gemm); !filled) return std::unexpected(filled.error());
    // FFMA takes less power than a tensor core at its full rate. If the GPU file has a power model, the clock follows from it.
    if (gpu.power().gpu() == gpu.name() && !row.clock_mhz()) work.settings.emplace_back("gpu.clock=POWER");
  } else if (architecture == "sm_90" && !mma_sync) {
    if (*type == configs::FP4) return no_gemm();
    configs::HopperGemm& gemm = *kernel.mutable_hopper_gemm();
    fill_shape(gemm);
    if (grouped) *gemm.mutable_grouped() = *grouped;
    if (const configs::GemmLibrary* library = configs::gemm_library_of(row.text("impl"), architecture)) {
      gemm.set_type(*type);
      gemm.set_tile(configs::AUTO);
      gemm.set_library(library->name());
      if (*type == configs::FP8 && row.text("dtype").ends_with("->fp8")) gemm.set_output_type(configs::FP8);
    } else {
      assume_hopper(row, *type, gemm);
    }
    if (integers) gemm.set_fp8_accumulation(configs::FAST);
    fuse(row, gemm);
  } else if (configs::product_family(architecture) == configs::ProductFamily::kTcgen05 && !grouped && !mma_sync) {
    fill_shape(*kernel.mutable_blackwell_gemm());
    const auto filled = fill_blackwell(row, *type, *kernel.mutable_blackwell_gemm());
    if (!filled) return std::unexpected(filled.error());
    if (const auto timed = time_blackwell(row, gpu, kernel, work); !timed) return std::unexpected(timed.error());
  } else if (grouped) {
    return not_mapped("no grouped GEMM for " + architecture);
  } else {
    if (*type == configs::FP4) return no_gemm();
    const bool before_fp8 = architecture == "sm_80" || architecture == "sm_86" || architecture == "sm_87";
    if (*type == configs::FP8 && before_fp8) return no_gemm();
    fill_shape(*kernel.mutable_ampere_gemm());
    const bool scaled = row.text("dtype").starts_with("mx") || row.text("impl").find("MXFP8") != std::string::npos;
    if (integers || scaled) run_unhalved(gpu, work);
    fill_ampere(row, *type, architecture, *kernel.mutable_ampere_gemm());
  }
  work.kernels.push_back(std::move(kernel));
  quantise_first(row, groups * rows * *k, groups * *n * *k, work);
  narrow_result(row, groups * rows * *n, work);
  return work;
}

void put_few_rows_in_columns(configs::HopperGemm& gemm) {
  if (gemm.m() >= gemm.tile_m()) return;
  constexpr uint64_t kFewestColumns = 32;
  const uint64_t rows = std::max(gemm.m(), kFewestColumns);
  gemm.set_m(gemm.n());
  gemm.set_n(rows);
  gemm.set_tile_n(static_cast<uint32_t>(rows));
}

}  // namespace warpfold::validation
