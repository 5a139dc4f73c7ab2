#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/gemm_library.h"
#include "configs/size_limits.h"

namespace warpfold::configs {

namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 60;  // of random bits, or products: operations stay below 2^64
constexpr uint64_t kMostScores = uint64_t{1} << 48;    // attention: 4 x head_dim operations each stay below 2^60
constexpr uint64_t kMostOutput = uint64_t{1} << 44;    // elements of a GEMM's result: bytes of operands stay below 2^64

constexpr uint32_t kMostParts = 64;                 // of a sum over k; assumed: above what libraries split into
constexpr uint64_t kMostGroups = 4096;              // of products in one launch
constexpr uint64_t kMostBatch = uint64_t{1} << 20;  // of equal products in one launch

// Checks fields of one message; the first fault is kept.
class Checker {
 public:
  explicit Checker(std::string path) : path_(std::move(path)) {}

  void at_least_one(std::string_view field, uint64_t value) { require(value >= 1, field, "must be at least 1", value); }
  // A length that a tensor has; larger ones are mistakes, and tiles of them would not fit memory.
  void size(std::string_view field, uint64_t value) {
    at_least_one(field, value);
    at_most(field, value, kMostSize);
  }
  // Checks the product of several sizes.
  void product(std::string_view what, std::initializer_list<uint64_t> factors, uint64_t most) {
    uint64_t product = 1;
    for (const uint64_t factor : factors) {
      if (!__builtin_mul_overflow(product, std::max<uint64_t>(factor, 1), &product) && product <= most) continue;
      fault("", "more than " + std::to_string(most) + " " + std::string(what));
      return;
    }
  }
  void at_most(std::string_view field, uint64_t value, uint64_t most) {
    require(value <= most, field, "must be at most " + std::to_string(most), value);
  }
  void one_of(std::string_view field, uint64_t value, std::initializer_list<uint64_t> allowed) {
    std::string list;
    for (const uint64_t choice : allowed) list += (list.empty() ? "" : ", ") + std::to_string(choice);
    const bool found = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
    require(found, field, "must be " + std::string(allowed.size() > 1 ? "one of " : "") + list, value);
  }
  void multiple_of(std::string_view field, uint64_t value, uint64_t unit, uint64_t most) {
    const bool good = value >= unit && value <= most && value % unit == 0;
    require(good, field, "must be a multiple of " + std::to_string(unit) + " up to " + std::to_string(most), value);
  }
  void no_larger_than(std::string_view field, uint64_t value, std::string_view whole, uint64_t size) {
    require(value <= size, field, "must not be larger than " + std::string(whole) + " (" + std::to_string(size) + ")", value);
  }
  void require(bool good, std::string_view field, const std::string& rule, uint64_t value) {
    if (!good) fault(field, std::string(field) + " " + rule + ", not " + std::to_string(value));
  }
  void fault(std::string_view field, const std::string& message) {
    if (!fault_) fault_ = Finding{field.empty() ? path_ : path_ + "." + std::string(field), message};
  }

  const std::optional<Finding>& result() const { return fault_; }

 private:
  std::string path_;
  std::optional<Finding> fault_;
};

std::optional<Finding> check_philox(const Philox& philox, const std::string& path) {
  Checker check(path);
  check.size("heads", philox.heads());
  check.size("queries", philox.queries());
  check.size("keys", philox.keys());
  if (philox.has_batch()) check.size("batch", philox.batch());
  check.product("elements", {philox.batch(), philox.heads(), philox.queries(), philox.keys()}, kMostElements);
  if (philox.has_rounds()) check.one_of("rounds", philox.rounds(), {3, 5, 7, 10});
  if (philox.has_threshold_bits()) check.one_of("threshold_bits", philox.threshold_bits(), {8, 16, 32});
  if (philox.has_threads_per_cta()) check.multiple_of("threads_per_cta", philox.threads_per_cta(), 32, 1024);
  if (philox.has_ctas_per_sm()) check.at_least_one("ctas_per_sm", philox.ctas_per_sm());
  return check.result();
}

// Products in this type. Tensor cores up to Hopper multiply nothing of 4 bits in floating point (PTX ISA, wgmma.mma_async: kinds),
// so that FP4 is BlackwellGemm's; FP32 is a type of its results; FP32, TF32 and INT8 are AmpereGemm's.
void check_operands(ElementType type, const std::string& field, Checker& check) {
  if (type == FP4 || type == FP32 || type == TF32 || type == INT8)
    check.fault(field, field + " must be FP8, BF16 or FP16, not " + ElementType_Name(type));
}

// The tile's choice.
template <typename Gemm>
void check_library(const Gemm& gemm, Checker& check) {
  if (gemm.tile() == AUTO && find_gemm_library(gemm.library()) == nullptr) {
    check.fault("library", "tile AUTO needs the name of a library, not " + escape::quoted(gemm.library()) +
                               gemm_library_suggestion(gemm.library()));
  }
  if (gemm.has_library() && gemm.tile() != AUTO) check.fault("library", "library needs tile: AUTO");
}

template <typename Gemm>
void check_parts(const Gemm& gemm, Checker& check) {
  if (!gemm.has_split_k()) return;
  check.require(gemm.split_k() >= 1 && gemm.split_k() <= kMostParts, "split_k", "must be from 1 to 64", gemm.split_k());
  check.no_larger_than("split_k", gemm.split_k(), "k", gemm.k());
}

// Products of groups and parts of k.
void check_splits(const HopperGemm& gemm, Checker& check) {
  check_parts(gemm, check);
  if (!gemm.has_grouped()) return;
  const GroupedGemm& grouped = gemm.grouped();
  check.at_least_one("grouped.groups", grouped.groups());
  check.at_most("grouped.groups", grouped.groups(), kMostGroups);
  const auto given = static_cast<uint64_t>(grouped.rows_size());
  if (given > 0) check.require(given == grouped.groups(), "grouped.rows", "must be as many as groups", given);
  for (const uint64_t rows : grouped.rows()) check.no_larger_than("grouped.rows", rows, "m", gemm.m());
}

// Few rows (or columns, once operands have changed places) that every kernel of a library pads to its tile.
bool pads(const HopperGemm& gemm) { return gemm.swap_operands() || gemm.has_grouped() || gemm.split_k() > 1 || gemm.m() < 64; }

std::optional<Finding> check_hopper_gemm(const HopperGemm& gemm, const std::string& path) {
  Checker check(path);
  check.size("m", gemm.m());
  check.size("n", gemm.n());
  check.size("k", gemm.k());
  check.product("elements of the result", {gemm.m(), gemm.n()}, kMostOutput);
  check.product("products", {gemm.m(), gemm.n(), gemm.k(), gemm.grouped().groups()}, kMostElements);
  // One wgmma covers 64 rows, 8 to 256 columns and 32 bytes of k.
  const uint64_t step = gemm.type() == FP8 ? 32 : 16;
  if (gemm.has_tile_m()) check.multiple_of("tile_m", gemm.tile_m(), 64, 512);
  if (gemm.has_tile_n()) check.multiple_of("tile_n", gemm.tile_n(), 8, 512);
  if (gemm.has_tile_k()) check.multiple_of("tile_k", gemm.tile_k(), step, 1024);
  // A tile may exceed the matrix only if the smallest tile does: 64 rows of one wgmma, 128 of two.
  const uint64_t rows = gemm.swap_operands() ? gemm.n() : gemm.m();
  const uint64_t columns = gemm.swap_operands() ? gemm.m() : gemm.n();
  if (gemm.tile_m() > 64 && !pads(gemm)) check.no_larger_than("tile_m", gemm.tile_m(), gemm.swap_operands() ? "n" : "m", rows);
  if (gemm.has_tile_n() && !pads(gemm)) check.no_larger_than("tile_n", gemm.tile_n(), gemm.swap_operands() ? "m" : "n", columns);
  if (gemm.has_tile_k()) check.no_larger_than("tile_k", gemm.tile_k(), "k", gemm.k());
  // One stage could not be filled while it is read.
  const bool ring = gemm.stages() == 0 || (gemm.stages() >= 2 && gemm.stages() <= 32);
  check.require(ring, "stages", "must be from 2 to 32, or 0: as many as fit", gemm.stages());
  if (gemm.has_cluster_m()) check.one_of("cluster_m", gemm.cluster_m(), {1, 2, 4, 8, 16});
  if (gemm.has_cluster_n()) check.one_of("cluster_n", gemm.cluster_n(), {1, 2, 4, 8, 16});
  const uint64_t cluster = uint64_t{std::max(gemm.cluster_m(), 1U)} * std::max(gemm.cluster_n(), 1U);
  if (cluster > 16)
    check.fault("cluster_m", "a cluster has at most 16 CTAs, not cluster_m x cluster_n = " + std::to_string(cluster));
  if (gemm.has_swizzle()) check.at_least_one("swizzle", gemm.swizzle());
  if (gemm.has_fp8_accumulation() && gemm.type() != FP8) {
    check.fault("fp8_accumulation", "fp8_accumulation is for type FP8, not " + ElementType_Name(gemm.type()));
  }
  check_operands(gemm.type(), "type", check);
  if (gemm.output_type() != FP32) check_operands(gemm.output_type(), "output_type", check);
  check_library(gemm, check);
  check_splits(gemm, check);
  if (gemm.has_registers_per_thread()) check.at_least_one("registers_per_thread", gemm.registers_per_thread());
  check.at_most("registers_per_thread", gemm.registers_per_thread(), 255);
  return check.result();
}

std::optional<Finding> check_blackwell_gemm(const BlackwellGemm& gemm, const std::string& path) {
  Checker check(path);
  check.size("m", gemm.m());
  check.size("n", gemm.n());
  check.size("k", gemm.k());
  check.product("elements of the result", {gemm.m(), gemm.n()}, kMostOutput);
  check.product("products", {gemm.m(), gemm.n(), gemm.k()}, kMostElements);
  if (gemm.type() == FP32 || gemm.type() == TF32 || gemm.type() == INT8)
    check.fault("type", "type must be FP8, BF16, FP16 or FP4, not " + ElementType_Name(gemm.type()));
  if (gemm.has_output_type() && gemm.output_type() != BF16 && gemm.output_type() != FP16 && gemm.output_type() != FP32)
    check.fault("output_type", "output_type must be BF16, FP16 or FP32, not " + ElementType_Name(gemm.output_type()));
  // A tcgen05.mma covers 64 or 128 rows of a CTA, and a multiple of 16 up to 256 columns. Its 32 bytes of k are 64
  // elements of 4 bits, 32 of 8 or 16 of 16 (PTX ISA, "Matrix shape" of tcgen05.mma).
  const uint64_t step = gemm.type() == FP4 ? 64 : gemm.type() == FP8 ? 32 : 16;
  if (gemm.has_tile_m()) check.one_of("tile_m", gemm.tile_m(), {64, 128});
  if (gemm.has_tile_n()) check.multiple_of("tile_n", gemm.tile_n(), 16, 256);
  if (gemm.has_tile_k()) check.multiple_of("tile_k", gemm.tile_k(), step, 2048);
  // One stage could not be filled while it is read.
  const bool ring = gemm.stages() == 0 || (gemm.stages() >= 2 && gemm.stages() <= 32);
  check.require(ring, "stages", "must be from 2 to 32, or 0: as many as fit", gemm.stages());
  if (gemm.has_cta_group()) check.one_of("cta_group", gemm.cta_group(), {1, 2});
  if (gemm.has_cluster_m()) check.one_of("cluster_m", gemm.cluster_m(), {1, 2, 4, 8, 16});
  if (gemm.has_cluster_n()) check.one_of("cluster_n", gemm.cluster_n(), {1, 2, 4, 8, 16});
  if (gemm.has_swizzle()) check.at_least_one("swizzle", gemm.swizzle());
  check.at_most("accumulators", gemm.accumulators(), 2);
  check_parts(gemm, check);
  check_library(gemm, check);
  return check.result();
}

// Several products of one launch: of one size, without rows of their own.
void check_products(const AmpereGemm& gemm, Checker& check) {
  if (!gemm.has_grouped()) return;
  check.require(gemm.grouped().groups() >= 1 && gemm.grouped().groups() <= kMostBatch, "grouped.groups",
                "must be from 1 to " + std::to_string(kMostBatch), gemm.grouped().groups());
  if (gemm.grouped().layout() != BATCHED || gemm.grouped().rows_size() > 0)
    check.fault("grouped", "grouped must be BATCHED and without rows of its own");
}

// Products on the FMA pipe: tiles may reach beyond the matrix. Which tiles so many threads can share,
// workloads/ampere_gemm/simt_plan.h says.
void check_simt_gemm(const AmpereGemm& gemm, Checker& check) {
  check.product("products", {gemm.m(), gemm.n(), gemm.k(), std::max<uint64_t>(gemm.grouped().groups(), 1)}, kMostElements);
  if (gemm.has_tile_m()) check.one_of("tile_m", gemm.tile_m(), {32, 64, 128, 256});
  if (gemm.has_tile_n()) check.one_of("tile_n", gemm.tile_n(), {32, 64, 128, 256});
  if (gemm.has_k_slices()) check.one_of("k_slices", gemm.k_slices(), {1, 2, 4});
  const uint32_t depth = 8 * std::max(gemm.k_slices(), 1U);
  if (gemm.has_tile_k()) check.require(gemm.tile_k() == depth, "tile_k", "must be 8 for each of k_slices", gemm.tile_k());
  if (gemm.has_threads()) check.multiple_of("threads", gemm.threads(), 32, 1024);
  if (gemm.has_stages()) check.require(gemm.stages() >= 2 && gemm.stages() <= 6, "stages", "must be from 2 to 6", gemm.stages());
  if (gemm.has_copy_bytes()) check.require(gemm.copy_bytes() == 4, "copy_bytes", "must be 4 of type FP32", gemm.copy_bytes());
  check_parts(gemm, check);
  check_products(gemm, check);
}

std::optional<Finding> check_ampere_gemm(const AmpereGemm& gemm, const std::string& path) {
  const uint64_t tile_m = gemm.tile_m() != 0 ? gemm.tile_m() : 128;
  const uint64_t tile_n = gemm.tile_n() != 0 ? gemm.tile_n() : 128;
  Checker check(path);
  check.size("m", gemm.m());
  check.size("n", gemm.n());
  check.size("k", gemm.k());
  check.product("elements of the result", {gemm.m(), gemm.n()}, kMostOutput);
  if (gemm.has_swizzle()) check.at_least_one("swizzle", gemm.swizzle());
  if (gemm.has_a_repeats()) check.at_least_one("a_repeats", gemm.a_repeats());
  if (gemm.has_b_repeats()) check.at_least_one("b_repeats", gemm.b_repeats());
  check_library(gemm, check);
  if (gemm.type() == FP32) {
    check_simt_gemm(gemm, check);
    return check.result();
  }
  check.product("products", {gemm.m(), gemm.n(), gemm.k()}, kMostElements);
  if (gemm.has_tile_m()) check.one_of("tile_m", gemm.tile_m(), {64, 128, 256});
  if (gemm.has_tile_n()) check.one_of("tile_n", gemm.tile_n(), {64, 128, 256});
  const auto at_least_tile = [&](const std::string& field, uint64_t size, uint64_t tile) {
    if (size < tile && gemm.tile() != AUTO && !gemm.has_grouped()) {
      check.fault(field, field + " must not be smaller than the tile's " + std::to_string(tile) + ", not " + std::to_string(size));
    }
  };
  at_least_tile("m", gemm.m(), tile_m);
  at_least_tile("n", gemm.n(), tile_n);
  if (gemm.type() == FP4) check.fault("type", "type must be BF16, FP16, TF32, INT8, FP8 or FP32, not FP4");
  check_products(gemm, check);
  for (const auto& [field, set] :
       {std::pair{"threads", gemm.has_threads()}, {"k_slices", gemm.has_k_slices()}, {"split_k", gemm.has_split_k()}}) {
    if (set) check.fault(field, std::string(field) + " needs type FP32");
  }
  const uint32_t depth = gemm.type() == TF32 ? 16 : gemm.has_type() && (gemm.type() == INT8 || gemm.type() == FP8) ? 64 : 32;
  if (gemm.has_tile_k()) check.one_of("tile_k", gemm.tile_k(), {depth, 2 * depth});
  if (gemm.has_tile_k()) check.no_larger_than("tile_k", gemm.tile_k(), "k", gemm.k());
  if (gemm.has_stages()) check.one_of("stages", gemm.stages(), {3, 4, 6, 10});
  if (gemm.has_copy_bytes()) check.one_of("copy_bytes", gemm.copy_bytes(), {4, 8, 16});
  return check.result();
}

std::optional<Finding> check_attention(const AttentionShape& shape, const std::string& path) {
  Checker check(path);
  if (shape.has_batch()) check.size("batch", shape.batch());
  check.size("heads", shape.heads());
  if (shape.has_kv_heads()) {
    check.at_least_one("kv_heads", shape.kv_heads());
    if (shape.kv_heads() > 0 && shape.heads() % shape.kv_heads() != 0) {
      check.fault("kv_heads",
                  "kv_heads must divide heads (" + std::to_string(shape.heads()) + "), not " + std::to_string(shape.kv_heads()));
    }
  }
  check.size("queries", shape.queries());
  if (shape.has_keys()) check.size("keys", shape.keys());
  const uint64_t keys = shape.has_keys() ? shape.keys() : shape.queries();
  check.product("scores", {shape.batch(), shape.heads(), shape.queries(), keys}, kMostScores);
  if (shape.has_keys()) check.at_least_one("keys", shape.keys());
  check.one_of("head_dim", shape.head_dim(), {64, 128, 256});
  check_operands(shape.type(), "type", check);
  if (shape.has_philox_rounds()) check.one_of("philox_rounds", shape.philox_rounds(), {3, 5, 7, 10});
  if (shape.has_threshold_bits()) check.one_of("threshold_bits", shape.threshold_bits(), {8, 32});
  return check.result();
}

std::optional<Finding> check_flash_attention_3(const FlashAttention3& attention, const std::string& path) {
  Checker check(path);
  // Whole steps of P V, which are 32 bytes of keys, with dropout whole Philox calls of 16 scores a thread, and wgmma of at most 256
  // columns.
  const bool by_16 = attention.shape().type() != FP8 && attention.shape().dropout() == NONE;
  if (attention.has_tile_keys()) check.multiple_of("tile_keys", attention.tile_keys(), by_16 ? 16 : 32, 256);
  check.at_most("splits", attention.splits(), 256);  // the library's limit (hopper/flash_api.cpp)
  if (attention.has_page_keys()) check.size("page_keys", attention.page_keys());
  if (check.result()) return check.result();
  return check_attention(attention.shape(), path + ".shape");
}

std::optional<Finding> check_flash_attention_4(const FlashAttention4& attention, const std::string& path) {
  Checker options(path);
  const auto share = [&options](const char* field, double value) {
    if (value >= 0 && value <= 1) return;
    options.fault(field, std::string(field) + " must be from 0 to 1, not " + std::to_string(value));
  };
  share("emulated_exponential_share", attention.emulated_exponential_share());
  share("rescale_share", attention.rescale_share());
  if (options.result()) return options.result();
  const AttentionShape& shape = attention.shape();
  Checker check(path + ".shape");
  check.one_of("head_dim", shape.head_dim(), {64, 128});
  if (shape.type() == FP8) check.fault("type", "type must be BF16 or FP16, not FP8");
  if (shape.dropout() != NONE && attention.pass() != FORWARD)
    check.fault("dropout", "flash_attention_4 has dropout in its forward pass alone");
  if (check.result()) return check.result();
  return check_attention(shape, path + ".shape");
}

// mma.sync multiplies 16 rows by 16 keys at a time; a warp has at most the 32 rows of the library's tiles, whose scores and sums
// fit its registers.
void check_tile(const FlashAttention2& attention, Checker& check) {
  if (!attention.has_tile_queries() && !attention.has_tile_keys() && !attention.has_warps()) return;
  if (!attention.has_tile_queries() || !attention.has_tile_keys() || !attention.has_warps()) {
    check.fault("", "a tile is tile_queries, tile_keys and warps");
    return;
  }
  if (attention.pass() != FORWARD) check.fault("tile_queries", "only the forward pass takes a tile");
  if (attention.warps_share_keys()) check.fault("warps_share_keys", "warps_share_keys has a tile of its own");
  check.one_of("warps", attention.warps(), {1, 2, 4, 8});
  check.multiple_of("tile_queries", attention.tile_queries(), 16 * std::max(attention.warps(), 1U),
                    32 * std::max(attention.warps(), 1U));
  check.multiple_of("tile_keys", attention.tile_keys(), 32, 128);
}

std::optional<Finding> check_flash_attention_2(const FlashAttention2& attention, const std::string& path) {
  Checker check(path + ".shape");
  if (attention.shape().type() != BF16 && attention.shape().type() != FP16)
    check.fault("type", "type must be BF16 or FP16, not " + ElementType_Name(attention.shape().type()));
  Checker options(path);
  options.at_most("splits", attention.splits(), 256);
  if (attention.has_page_keys()) options.size("page_keys", attention.page_keys());
  check_tile(attention, options);
  if (options.result()) return options.result();
  if (check.result()) return check.result();
  return check_attention(attention.shape(), path + ".shape");
}

std::optional<Finding> check_elementwise(const Elementwise& elementwise, const std::string& path) {
  Checker check(path);
  check.at_least_one("elements", elementwise.elements());
  check.at_most("elements", elementwise.elements(), kMostScores);
  const uint32_t element = elementwise.has_element_bytes() ? elementwise.element_bytes() : 4;
  check.one_of("element_bytes", element, {2, 4, 8});
  if (elementwise.has_access_bytes()) {
    check.one_of("access_bytes", elementwise.access_bytes(), {4, 8, 16});
    check.require(elementwise.access_bytes() >= element, "access_bytes", "must hold an element", elementwise.access_bytes());
  }
  if (elementwise.operation() == NARROW) {
    check.require(element == 4, "element_bytes", "must be 4 where floats become 16 bits", element);
    check.require(elementwise.access_bytes() != 4, "access_bytes", "must hold two floats, which become a word", 4);
  }
  if (elementwise.has_accesses_per_thread()) {
    check.at_least_one("accesses_per_thread", elementwise.accesses_per_thread());
    check.at_most("accesses_per_thread", elementwise.accesses_per_thread(), 8);
  }
  if (elementwise.has_threads_per_cta()) check.multiple_of("threads_per_cta", elementwise.threads_per_cta(), 32, 1024);
  return check.result();
}

std::optional<Finding> check_gemm_reduction(const GemmReduction& reduction, const std::string& path) {
  Checker check(path);
  check.size("m", reduction.m());
  check.size("n", reduction.n());
  check.product("elements of the result", {reduction.m(), reduction.n()}, kMostOutput);
  check.require(reduction.parts() >= 2 && reduction.parts() <= kMostParts, "parts", "must be from 2 to 64", reduction.parts());
  if (reduction.output_type() == FP4 || reduction.output_type() == TF32 || reduction.output_type() == INT8)
    check.fault("output_type", "output_type must be BF16, FP16, FP32 or FP8, not " + ElementType_Name(reduction.output_type()));
  return check.result();
}

std::optional<Finding> check_opaque(const Opaque& opaque, const std::string& path) {
  Checker check(path);
  check.at_least_one("ctas", opaque.ctas());
  check.at_least_one("amount", opaque.amount());
  if (opaque.has_threads_per_cta()) check.multiple_of("threads_per_cta", opaque.threads_per_cta(), 32, 1024);
  check.product("instructions", {opaque.ctas(), 1024, opaque.amount()}, kMostScores);
  return check.result();
}

}  // namespace

std::optional<Finding> find_workload_fault(const Kernel& kernel, const std::string& path) {
  switch (kernel.workload_case()) {
    case Kernel::kPhilox:
      return check_philox(kernel.philox(), path + ".philox");
    case Kernel::kHopperGemm:
      return check_hopper_gemm(kernel.hopper_gemm(), path + ".hopper_gemm");
    case Kernel::kBlackwellGemm:
      return check_blackwell_gemm(kernel.blackwell_gemm(), path + ".blackwell_gemm");
    case Kernel::kAmpereGemm:
      return check_ampere_gemm(kernel.ampere_gemm(), path + ".ampere_gemm");
    case Kernel::kTrace:
      if (kernel.trace().path().empty() && kernel.trace().text().empty()) return Finding{path + ".trace", "path is missing"};
      if (kernel.trace().has_path() && kernel.trace().has_text()) {
        return Finding{path + ".trace.text", "a trace is a file or a text: path is set as well"};
      }
      return std::nullopt;
    case Kernel::kListing:
      if (kernel.listing().path().empty()) return Finding{path + ".listing", "path is missing"};
      if (!kernel.listing().has_description()) {
        return Finding{path + ".listing", "launch is missing: the file that says grid, block and parameters"};
      }
      return std::nullopt;
    case Kernel::kFlashAttention2:
      return check_flash_attention_2(kernel.flash_attention_2(), path + ".flash_attention_2");
    case Kernel::kFlashAttention3:
      return check_flash_attention_3(kernel.flash_attention_3(), path + ".flash_attention_3");
    case Kernel::kFlashAttention4:
      return check_flash_attention_4(kernel.flash_attention_4(), path + ".flash_attention_4");
    case Kernel::kElementwise:
      return check_elementwise(kernel.elementwise(), path + ".elementwise");
    case Kernel::kGemmReduction:
      return check_gemm_reduction(kernel.gemm_reduction(), path + ".gemm_reduction");
    case Kernel::kOpaque:
      return check_opaque(kernel.opaque(), path + ".opaque");
    case Kernel::WORKLOAD_NOT_SET:
      break;
  }
  return Finding{path, "kernel " + escape::quoted(kernel.name()) +
                           " has no workload; expected one of philox, hopper_gemm, blackwell_gemm, ampere_gemm, flash_attention_2, "
                           "flash_attention_3, flash_attention_4, elementwise, gemm_reduction, opaque, trace, listing"};
}

}  // namespace warpfold::configs
