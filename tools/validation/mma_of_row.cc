#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {
namespace {

// sm120_mma_sparse of lookup1980/microbench-blackwell @a5eef42: CTAs and warps of the Makefile, and the CSV's iterations.
constexpr uint64_t kCtas = 108;
constexpr uint64_t kCtaWarps = 8;
constexpr uint64_t kIterations = 4096;

// The product of one instruction: the source's family, the extent that it sums over, and whether A has two of four elements.
struct Product {
  std::string_view family;
  uint64_t k;
  bool sparse;
  std::string_view instruction;
};
constexpr std::array kProducts{
    Product{"f16", 16, false, "HMMA.16816.F32"},           Product{"f16", 16, true, "HMMA.SP.16816.F32"},
    Product{"f16", 32, true, "HMMA.SP.16832.F32"},         Product{"f16f16", 16, false, "HMMA.16816.F16"},
    Product{"f16f16", 16, true, "HMMA.SP.16816.F16"},      Product{"f16f16", 32, true, "HMMA.SP.16832.F16"},
    Product{"bf16", 16, false, "HMMA.16816.F32.BF16"},     Product{"bf16", 16, true, "HMMA.SP.16816.F32.BF16"},
    Product{"bf16", 32, true, "HMMA.SP.16832.F32.BF16"},   Product{"tf32", 8, false, "HMMA.1688.F32.TF32"},
    Product{"tf32", 8, true, "HMMA.SP.1688.F32.TF32"},     Product{"tf32", 16, true, "HMMA.SP.16816.F32.TF32"},
    Product{"fp8", 32, false, "QMMA.16832.F32.E4M3.E4M3"}, Product{"fp8", 64, true, "QMMA.SP.16864.F32.E4M3.E4M3"},
    Product{"int8", 32, false, "IMMA.16832.S8.S8"},        Product{"int8", 32, true, "IMMA.SP.16832.S8.S8"},
    Product{"int8", 64, true, "IMMA.SP.16864.S8.S8"},
};

uint64_t whole(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

}  // namespace

Mapped<RowWork> mma_sync_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string family = row.option("family"), variant = row.option("variant");
  const uint64_t unrolled = whole(row.option("unroll")), instructions = whole(row.option("instructions per packet"));
  const auto k = count_of(row, "K");
  if (!k) return std::unexpected(k.error());
  if (unrolled == 0 || unrolled > 64 || instructions == 0 || instructions > 64 ||
      row.option("warps") != std::to_string(kCtas * kCtaWarps))
    return not_mapped("dims_other: expected warps=864, unroll and instructions per packet");
  if (variant == "sp") return not_mapped("ptxas replaces mma.sp without ordered metadata by code of its own, which is not known");
  if (family == "int4")
    return not_mapped("sm_120 has no products of INT4: ptxas replaces them by code of its own, which is not known");
  const bool sparse = variant == "ordered";
  const auto* const product = std::ranges::find_if(kProducts, [&](const Product& known) {
    return known.family == family && known.sparse == sparse && known.k * instructions == *k;
  });
  if (product == kProducts.end())
    return not_mapped("no instruction for " + variant + " products of " + family + ", K " + std::to_string(*k));
  std::string text = "kernel products architecture=" + gpu.architecture() + " registers=32\nclass all\ngrid all*" +
                     std::to_string(kCtas) + "\nrole multiplier warps=" + std::to_string(kCtaWarps) + "\nloop " +
                     std::to_string(kIterations) + "\n";
  for (uint64_t n = 0; n < instructions; ++n) {
    text += std::string(product->instruction) + " R4, R8, R12, R4" + (sparse ? ", R16, 0x0" : "") + "\n";
  }
  text += "IADD3 R2, R2, -0x1, RZ\nISETP.NE.AND P0, PT, R2, RZ, PT\n@P0 BRA `(.L_loop)\nend\nEXIT\nend\nend\n";
  RowWork work;
  work.family = "mma.sync";
  work.kernel = row.text("kernel");
  work.shape = row.text("dtype") + " K " + std::to_string(*k) + " " + variant;
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("kernel");
  kernel.mutable_trace()->set_text(std::move(text));
  if (family == "int8" || family == "f16f16") run_unhalved(gpu, work);  // sums in FP16 run at the full rate too (GA102 whitepaper)
  work.counted = static_cast<double>(kIterations * unrolled);
  return work;
}

}  // namespace warpfold::validation
