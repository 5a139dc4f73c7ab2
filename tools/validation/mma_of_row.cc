#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "tools/validation/kernels_of_row.h"
#include "tools/validation/operator_rows.h"

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

// Products that ptxas replaces by calls on sm_120, with the functions of configs/kernels/mma_replaced.cu: compiled by nvcc 13.0,
// the other products without ordered metadata of the source's rows are single instructions.
struct Replaced {
  std::string_view types;  // the row's dtype
  std::string_view variant;
  uint64_t k;  // of one product
  std::string_view function;
};
constexpr std::array kReplaced{
    Replaced{"u4xu4", "dense", 64, "u4_u4"},         Replaced{"u4xs4", "dense", 64, "u4_s4"},
    Replaced{"s4xu4", "dense", 64, "s4_u4"},         Replaced{"s4xs4", "dense", 64, "s4_s4"},
    Replaced{"u4xu4", "sp", 64, "sparse_u4_u4"},     Replaced{"u4xs4", "sp", 64, "sparse_u4_s4"},
    Replaced{"s4xu4", "sp", 64, "sparse_s4_u4"},     Replaced{"s4xs4", "sp", 64, "sparse_s4_s4"},
    Replaced{"f16xf16", "sp", 16, "sparse_f16_k16"}, Replaced{"f16xf16", "sp", 32, "sparse_f16_k32"},
};
constexpr std::string_view kMmaSync = "mma.sync ";

uint64_t whole(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

// A row's loop.
struct Chain {
  uint64_t unrolled = 0;      // packets of an iteration
  uint64_t instructions = 0;  // products of a packet
  uint64_t k = 0;             // that a packet sums over
};

Mapped<Chain> chain_of(const MeasuredRow& row) {
  const Chain chain{whole(row.option("unroll")), whole(row.option("instructions per packet")), 0};
  const auto k = count_of(row, "K");
  if (!k) return std::unexpected(k.error());
  if (chain.unrolled == 0 || chain.unrolled > 64 || chain.instructions == 0 || chain.instructions > 64 ||
      row.option("warps") != std::to_string(kCtas * kCtaWarps))
    return not_mapped("dims_other: expected warps=864, unroll and instructions per packet");
  return Chain{chain.unrolled, chain.instructions, *k};
}

const Replaced* replaced_in(const MeasuredRow& row, const Chain& chain) {
  const auto* const found = std::ranges::find_if(kReplaced, [&](const Replaced& each) {
    return row.text("dtype") == each.types && row.option("variant") == each.variant && chain.k == each.k * chain.instructions &&
           (each.types != "f16xf16" || row.option("family") == "f16");
  });
  return found == kReplaced.end() ? nullptr : found;
}

RowWork work_of_chain(const MeasuredRow& row, const configs::Gpu& gpu, const Chain& chain) {
  RowWork work;
  work.kernel = row.text("kernel");
  work.shape = row.text("dtype") + " K " + std::to_string(chain.k) + " " + row.option("variant");
  work.kernels.emplace_back().set_name("kernel");
  const std::string family = row.option("family");
  // Sums in FP16 run at the full rate too (GA102 whitepaper).
  if (family == "int8" || family == "int4" || family == "f16f16") run_unhalved(gpu, work);
  work.counted = static_cast<double>(kIterations * chain.unrolled);
  return work;
}

}  // namespace

bool is_replaced_product(const MeasuredRow& row) {
  if (!row.text("kernel").starts_with(kMmaSync)) return false;
  const auto chain = chain_of(row);
  return chain && replaced_in(row, *chain) != nullptr;
}

Mapped<RowWork> replaced_products_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& kernels) {
  const auto chain = chain_of(row);
  if (!chain) return std::unexpected(chain.error());
  const Replaced* const product = replaced_in(row, *chain);
  if (product == nullptr) return not_mapped("no function of mma_replaced.cu");
  const bool known = chain->unrolled == 8 ? chain->instructions <= 2 : chain->unrolled == 1 && chain->instructions == 1;
  if (!known || (product->variant == "sp" && (chain->unrolled != 8 || chain->instructions != 1)))
    return not_mapped("ptxas replaces these products by calls, which were compiled for other packets");
  RowWork work = work_of_chain(row, gpu, *chain);
  work.family = "mma.sync by calls";
  const std::string function =
      std::string(product->function) + "_" + std::to_string(chain->unrolled) + "x" + std::to_string(chain->instructions);
  auto kernel = operator_kernel({.name = "mma_replaced", .settings = {"function=" + function}, .pass = {}}, kernels);
  if (!kernel) return std::unexpected(kernel.error());
  work.kernels.front() = *std::move(kernel);
  return work;
}

Mapped<RowWork> mma_sync_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const auto chain = chain_of(row);
  if (!chain) return std::unexpected(chain.error());
  const std::string family = row.option("family"), variant = row.option("variant");
  // ptxas writes these two without ordered metadata as the single instruction of the ordered product.
  const bool single = variant == "sp" && ((family == "bf16" && chain->k == 32) || (family == "tf32" && chain->k == 8));
  if (variant == "sp" && !single) return not_mapped("mma.sp without ordered metadata of " + family + " was not compiled");
  const bool sparse = variant == "ordered" || single;
  const auto* const product = std::ranges::find_if(kProducts, [&](const Product& known) {
    return known.family == family && known.sparse == sparse && known.k * chain->instructions == chain->k;
  });
  if (product == kProducts.end())
    return not_mapped("no instruction for " + variant + " products of " + family + ", K " + std::to_string(chain->k));
  std::string text = "kernel products architecture=" + gpu.architecture() + " registers=32\nclass all\ngrid all*" +
                     std::to_string(kCtas) + "\nrole multiplier warps=" + std::to_string(kCtaWarps) + "\nloop " +
                     std::to_string(kIterations) + "\n";
  for (uint64_t n = 0; n < chain->instructions; ++n) {
    text += std::string(product->instruction) + " R4, R8, R12, R4" + (sparse ? ", R16, 0x0" : "") + "\n";
  }
  text += "IADD3 R2, R2, -0x1, RZ\nISETP.NE.AND P0, PT, R2, RZ, PT\n@P0 BRA `(.L_loop)\nend\nEXIT\nend\nend\n";
  RowWork work = work_of_chain(row, gpu, *chain);
  work.family = "mma.sync";
  work.kernels.front().mutable_trace()->set_text(std::move(text));
  return work;
}

}  // namespace warpfold::validation
