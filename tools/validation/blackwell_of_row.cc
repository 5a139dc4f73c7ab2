#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/gemm_library.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

bool says(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// The number that ends at `end`; 0 if there is none.
uint32_t number_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  uint32_t value = 0;
  std::from_chars(text.data() + begin, text.data() + end, value);
  return value;
}

uint32_t number_at(std::string_view text, size_t begin) {
  uint32_t value = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return value;
}

// The number before a word: 4 in "4 stages", 148 in "148 blocks".
uint32_t counted(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  return at == std::string_view::npos || at == 0 ? 0 : number_before(text, at - 1);
}

bool pairs(std::string_view text) { return says(text, "2-cta") || says(text, "2cta") || says(text, "2-sm") || says(text, "2sm"); }
bool single(std::string_view text) {
  return says(text, "1-cta") || says(text, "1cta") || says(text, "1-sm") || says(text, "cta/sm");
}

// Takes the kernel from the words of `impl`: "CuTeDSL persistent 2-CTA, mma_tiler 256x128, cluster 2x1", "nvjet
// 128x256_128x6_2x1_2cta", "dual CTA/SM 128x256, 2 stages". Returns false if they state nothing.
bool take_stated(const std::string& implementation, configs::BlackwellGemm& gemm) {
  const std::string text = lower(implementation);
  const RowTile tile = tile_in(text);
  const bool persistent = says(text, "persistent") && !says(text, "non-persistent");
  if (tile.rows == 0 && !pairs(text) && !single(text) && !says(text, "persistent")) return false;
  const bool pair = pairs(text) || (tile.rows == 0 && !single(text)) || tile.rows == 256;
  gemm.set_cta_group(pair ? 2 : 1);
  if (tile.rows > 0) {
    // CUTLASS's mma_tiler is the tile of a pair; nvjet's names give the tile of a CTA.
    gemm.set_tile_m(pair && tile.rows > 128 ? tile.rows / 2 : tile.rows);
    gemm.set_tile_n(tile.columns);
  }
  if (const uint32_t stages = counted(text, "stages"); stages > 0) gemm.set_stages(stages);
  if (const uint32_t blocks = counted(text, "blocks"); blocks > 0) gemm.set_grid_ctas(blocks);
  // CuTeDSL's examples go column by column without a swizzle (CUTLASS, static_persistent_tile_scheduler.py), as does a grid of M x
  // N CTAs.
  if (says(text, "cutedsl")) {
    gemm.set_rasterisation(configs::ALONG_M);
    gemm.set_swizzle(1);
  }
  const bool library = configs::gemm_library_of(implementation, "sm_100") != nullptr;
  gemm.set_persistent(persistent || (library && !says(text, "non-persistent")));
  return true;
}

// SEMI's cutlass_gemm_mainloop: one tile on one SM, as large as the matrix. Its phrases may state the depth of a stage and the
// number of stages: "tile=64x16x32;stages=5", "tile K 64 stages 7", stages=auto.
void take_single_tile(const MeasuredRow& row, configs::BlackwellGemm& gemm) {
  gemm.set_cta_group(1);
  gemm.set_tile_m(static_cast<uint32_t>(gemm.m()));
  gemm.set_tile_n(static_cast<uint32_t>(gemm.n()));
  const std::string tile = row.option("tile");
  const size_t depth = tile.rfind('x');
  if (const uint32_t k = number_at(tile, depth == std::string::npos ? 0 : depth + 1); k > 0) gemm.set_tile_k(k);
  if (const uint32_t stages = number_at(row.option("stages"), 0); stages > 0) gemm.set_stages(stages);
}

}  // namespace

// The first pair of numbers that is a tile's size. Clusters ("2x1") are smaller than any tile.
RowTile tile_in(std::string_view text) {
  constexpr uint32_t kSmallestTile = 32;
  std::string close(text);
  for (size_t at = close.find(" x "); at != std::string::npos; at = close.find(" x ", at + 1)) close.replace(at, 3, "x");
  const std::string_view all = close;
  for (size_t at = all.find('x'); at != std::string_view::npos; at = all.find('x', at + 1)) {
    const RowTile tile{number_before(all, at), number_at(all, at + 1)};
    if (tile.rows >= kSmallestTile && tile.columns >= kSmallestTile) return tile;
  }
  return {};
}

bool of_one_sm(const MeasuredRow& row) {
  return says(row.text("impl"), "mainloop only") || says(row.text("kernel"), "one CTA on one SM");
}

Mapped<void> fill_blackwell(const MeasuredRow& row, configs::ElementType type, configs::BlackwellGemm& gemm) {
  gemm.set_type(type);
  const std::string dtype = lower(row.text("dtype"));
  if (says(dtype, "->f32") || says(dtype, "->fp32")) gemm.set_output_type(configs::FP32);
  if (says(dtype, "->fp16")) gemm.set_output_type(configs::FP16);
  if (dtype.starts_with("mx") || says(row.text("kernel"), "block-scaled")) gemm.set_scales(configs::MX);
  const std::string& implementation = row.text("impl");
  if (of_one_sm(row)) {
    take_single_tile(row, gemm);
    return {};
  }
  const bool stated = take_stated(implementation, gemm);
  const configs::GemmLibrary* library = configs::gemm_library_of(implementation, "sm_100");
  if (stated || !row.text("set").empty()) return {};
  if (library == nullptr)
    return not_mapped("no kernel for a GEMM by " + escape::quoted(implementation) + " on Blackwell; say its tile (set)");
  gemm.set_tile(configs::AUTO);
  gemm.set_library(library->name());
  return {};
}

}  // namespace warpfold::validation
