#include <algorithm>
#include <utility>

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

constexpr uint64_t kFewRows = 256;

void fill_hopper(const MeasuredRow& row, configs::ElementType type, configs::HopperGemm& gemm) {
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

void fill_ampere(configs::ElementType type, configs::AmpereGemm& gemm) {
  gemm.set_type(type);
  gemm.set_tile_k(32);
  gemm.set_stages(4);  // assumed, as the band: the largest that the generator has
  gemm.set_swizzle(8);
}

}  // namespace

Mapped<RowWork> gemm_of_row(const MeasuredRow& row, const std::string& architecture) {
  const auto m = count_of(row, "M");
  if (!m) return std::unexpected(m.error());
  const auto n = count_of(row, "N");
  if (!n) return std::unexpected(n.error());
  const auto k = count_of(row, "K");
  if (!k) return std::unexpected(k.error());
  const auto type = element_type_of(row);
  if (!type) return std::unexpected(type.error());
  RowWork work;
  work.family = std::min({*m, *n, *k}) > kFewRows ? "GEMM" : "GEMM, a dimension of 256 or less";
  work.kernel = work.family;
  work.shape = row.text("dtype") + " " + row.text("M") + "x" + row.text("N") + "x" + row.text("K");
  work.work = 2 * static_cast<double>(*m) * static_cast<double>(*n) * static_cast<double>(*k);
  work.rate_unit = "TFLOPS";
  configs::Kernel kernel;
  kernel.set_name("gemm");
  const auto fill_shape = [&](auto& gemm) {
    gemm.set_m(*m);
    gemm.set_n(*n);
    gemm.set_k(*k);
  };
  if (architecture == "sm_90") {
    fill_shape(*kernel.mutable_hopper_gemm());
    fill_hopper(row, *type, *kernel.mutable_hopper_gemm());
  } else {
    if (*type == configs::FP8) return not_mapped("no FP8 GEMM for " + architecture);
    fill_shape(*kernel.mutable_ampere_gemm());
    fill_ampere(*type, *kernel.mutable_ampere_gemm());
  }
  work.kernels.push_back(std::move(kernel));
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
