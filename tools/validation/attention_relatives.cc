#include "tools/validation/attention_relatives.h"

#include <array>

#include "configs/architecture.h"
#include "configs/escape/quoted.h"

namespace warpfold::validation {
namespace {

using configs::ProductFamily;
using enum configs::ProductFamily;

// cuDNN's name of the kernel on Hopper: sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1, that is 64 queries per
// warpgroup and blocks of 128 keys. NVIDIA/cudnn-frontend has the source of one kernel of this name for head_dim 64. It has a
// producer warp, two consumer warpgroups and persistent CTAs that draw tiles from a counter. The warpgroups take turns before the
// exponentials, and scores are complete before the softmax.
void cudnn_on_hopper(configs::Kernel& kernel) {
  configs::FlashAttention3& attention = *kernel.mutable_flash_attention_3();
  attention.set_intra_warpgroup_overlap(false);
  if (attention.shape().head_dim() <= 128 && attention.shape().type() != configs::FP8) attention.set_tile_keys(128);
}

// Names of the kernels on Blackwell: sdpa_sm100_flash_fprop_f16_knob_7_128x128x128_4x1x1_cga1x1x1 and
// sdpa_sm100_flash_bprop_f16_knob_31_128x128x128_1x4x1_cga1x1x1, clusters of one CTA. Both have 512 threads (profiles of
// benchmark/sdpa_benchmark_training in NVIDIA/cudnn-frontend).
void cudnn_on_blackwell(configs::Kernel& kernel) { kernel.mutable_flash_attention_4()->set_two_ctas(false); }

// kernels/attn/h100 in HazyResearch/ThunderKittens: kv_height 128, products awaited before and after each softmax, no turns.
void thunder_kittens(configs::Kernel& kernel) {
  configs::FlashAttention3& attention = *kernel.mutable_flash_attention_3();
  attention.set_tile_keys(128);
  attention.set_pingpong(false);
  attention.set_intra_warpgroup_overlap(false);
}

// Triton's tutorial 06-fused-attention of 2024: blocks of at most 64 keys for four warps. No warp has a role of its own, and the
// products of a block are not begun before the softmax of the previous one has ended.
void triton_on_hopper(configs::Kernel& kernel) {
  configs::FlashAttention3& attention = *kernel.mutable_flash_attention_3();
  attention.set_tile_keys(64);
  attention.set_pingpong(false);
  attention.set_intra_warpgroup_overlap(false);
}

// examples/attention_sink in tile-ai/tilelang, example_gqa_sink_fwd_bhsd_wgmma_pipelined.py: block_M 128, block_N 128, two stages,
// 256 threads, and the scores of a block beside the softmax of the previous one.
void tile_lang_sink(configs::Kernel& kernel) {
  configs::FlashAttention3& attention = *kernel.mutable_flash_attention_3();
  attention.set_tile_keys(128);
  attention.set_pingpong(false);
}

void set_tile(configs::Kernel& kernel, uint32_t queries, uint32_t keys, uint32_t warps) {
  configs::FlashAttention2& attention = *kernel.mutable_flash_attention_2();
  attention.set_tile_queries(queries);
  attention.set_tile_keys(keys);
  attention.set_warps(warps);
}

// triton/ops/flash_attention.py of 2023: BLOCK_M 128, BLOCK_N 64, four warps up to head_dim 64, otherwise eight.
void triton_on_ampere(configs::Kernel& kernel) {
  set_tile(kernel, 128, 64, kernel.flash_attention_2().shape().head_dim() <= 64 ? 4 : 8);
}

// Instantiations in PyTorch and xformers: fmha_cutlassF_f16_aligned_64x64_rf_sm80 up to head_dim 64, 64x128 up to 128. The
// generator divides a tile's rows, not its keys, among warps: four warps of 16 rows.
void cutlass_fmha(configs::Kernel& kernel) {
  set_tile(kernel, 64, kernel.flash_attention_2().shape().head_dim() <= 64 ? 64 : 128, 4);
}

// 07_attention/attention_v4.cu in gau-nernst/learn-cuda: BLOCK_Q 64, BLOCK_KV 32, NUM_WARPS 4.
void learn_cuda(configs::Kernel& kernel) { set_tile(kernel, 64, 32, 4); }

// FlashAttention's CuTe DSL on sm_120 and sm_121 has blocks of 128 keys up to head_dim 64, otherwise 64, with and without dropout
// (flash_attn/cute/interface.py in Dao-AILab/flash-attention). A ratio needs two kernels whose instructions come from the same
// source, so both runs have FlashAttention-2's tile for dropout, which is half as long. Its longer tiles without dropout have
// counts and spilled registers of their own.
void cute_dsl(configs::Kernel& kernel) { set_tile(kernel, 128, kernel.flash_attention_2().shape().head_dim() <= 64 ? 64 : 32, 4); }

// A library's kernels on one family of GPUs. `generator` empty: `text` is the reason why no generator is near enough.
struct Entry {
  std::string_view implementation;  // the beginning of the column `impl`
  std::string_view kernel;          // in the column `kernel`; empty: any
  ProductFamily family;
  std::string_view library;
  std::string_view generator;
  std::string_view text;
  void (*forward)(configs::Kernel&) = nullptr;
  void (*backward)(configs::Kernel&) = nullptr;
};

constexpr std::string_view kCudnnMmaSync = "closed source: tile, warps and order of instructions are FlashAttention-2's";
constexpr std::string_view kCudnnHopper =
    "closed source: 128 keys a block and no overlap within a warpgroup, as kernel names and one published kernel say; clusters, "
    "head_dim 256, FP8, the backward pass and the order of instructions are FlashAttention-3's";
constexpr std::string_view kCudnnBlackwell =
    "closed source: 128 x 128 and no pairs of CTAs, as kernel names say; roles, order of instructions and deterministic sums are "
    "FlashAttention-4's, and no kernel adds up the heads that share keys";
constexpr std::string_view kCutlass =
    "CUTLASS's kernel divides a tile among warps by keys as well and passes P through shared memory; the backward pass has "
    "FlashAttention-2's tiles";
constexpr std::string_view kTritonHopper =
    "Triton's kernel has no producer warp, no clusters and one warpgroup for up to 128 queries; the simulated one has a producer "
    "and "
    "two or three warpgroups";
constexpr std::string_view kNoTritonBlackwell =
    "FlexAttention is compiled by Triton: its kernel for tcgen05 has none of the warp roles of flash_attention_4";
constexpr std::string_view kFirst =
    "FlashAttention-1 keeps keys in a CTA, steps through the queries by 16 rows and divides keys among warps (arXiv 2307.08691, "
    "section 3); no generator has this loop";

constexpr std::array kEntries{
    Entry{"FlashAttention-1", "", kMmaSync, "", "", kFirst},
    Entry{"FlashAttention-1", "", kWgmma, "", "", kFirst},
    Entry{"cuDNN", "", kMmaSync, "cuDNN", "flash_attention_2", kCudnnMmaSync},
    Entry{"F.sdpa cuDNN", "", kMmaSync, "cuDNN", "flash_attention_2", kCudnnMmaSync},
    Entry{"cuDNN", "", kWgmma, "cuDNN", "flash_attention_3", kCudnnHopper, cudnn_on_hopper},
    Entry{"cudnn", "", kWgmma, "cuDNN", "flash_attention_3", kCudnnHopper, cudnn_on_hopper},
    Entry{"cuDNN", "", kTcgen05, "cuDNN", "flash_attention_4", kCudnnBlackwell, cudnn_on_blackwell, cudnn_on_blackwell},
    Entry{"cudnn", "", kTcgen05, "cuDNN", "flash_attention_4", kCudnnBlackwell, cudnn_on_blackwell, cudnn_on_blackwell},
    Entry{"xformers cutlass", "", kMmaSync, "xformers", "flash_attention_2", kCutlass, cutlass_fmha},
    Entry{"sdpa mem-efficient", "", kTcgen05, "PyTorch's memory-efficient attention", "flash_attention_2", kCutlass, cutlass_fmha},
    Entry{"flashinfer prefill auto (FA2-class)", "", kTcgen05, "FlashInfer", "flash_attention_2",
          "FlashInfer's template has FlashAttention-2's structure; its tile of keys and its order of instructions are "
          "FlashAttention-2's here"},
    Entry{"FlashAttention Triton", "", kMmaSync, "Triton", "flash_attention_2",
          "Triton's code: order of instructions, and FlashAttention-2's tiles in the backward pass", triton_on_ampere},
    Entry{"Triton", "attention-sink fwd", kWgmma, "Triton, attention sink", "flash_attention_3",
          "Triton's kernel has CTAs of 64 queries and one warpgroup, no producer warp and no clusters; each row's sink is not "
          "simulated",
          triton_on_hopper},
    Entry{"Triton", "", kWgmma, "Triton", "flash_attention_3", kTritonHopper, triton_on_hopper},
    Entry{"triton_tutorial_flash", "", kWgmma, "Triton", "flash_attention_3", kTritonHopper, triton_on_hopper},
    Entry{
        "TileLang", "attention-sink fwd", kWgmma, "TileLang, attention sink", "flash_attention_3",
        "TileLang's kernel has no turns; clusters, and 192 queries at head_dim 64, are FlashAttention-3's; each row's sink is not "
        "simulated",
        tile_lang_sink},
    Entry{"ThunderKittens", "", kWgmma, "ThunderKittens", "flash_attention_3",
          "ThunderKittens has three consumer warpgroups of 64 queries and no clusters at head_dim 128; the backward pass has "
          "FlashAttention-3's tiles and order of instructions",
          thunder_kittens},
    Entry{"hand-written", "attention fwd WGMMA", kWgmma, "hand-written wgmma", "flash_attention_3",
          "a kernel of nideyongbao/CUDA_GEMM: tile, roles and order of instructions are FlashAttention-3's"},
    Entry{"hand-written", "attention fwd mma.sync (TinyFA)", kMmaSync, "hand-written mma.sync", "flash_attention_2",
          "a kernel of nideyongbao/CUDA_GEMM: tile, warps and order of instructions are FlashAttention-2's"},
    Entry{"FlashAttention CuTe DSL", "", kMmaSync, "FlashAttention CuTe DSL", "flash_attention_2",
          "blocks of half as many keys, in both runs; a call of Philox makes the bits of 16 elements, in pull request 2439 of 8",
          cute_dsl},
    Entry{"v4 ldmatrix.x4", "", kMmaSync, "learn-cuda v4", "flash_attention_2",
          "the same tile and loop, with FlashAttention-2's order of instructions", learn_cuda},
    Entry{"v1", "", kMmaSync, "", "", "learn-cuda v1 has bank conflicts in shared memory, which no generator of attention has"},
    Entry{"v2", "", kMmaSync, "", "", "learn-cuda v2 waits for each copy before it multiplies; no generator has this loop"},
    Entry{"FlexAttention", "", kTcgen05, "", "", kNoTritonBlackwell},
};

}  // namespace

Mapped<AttentionRelative> attention_relative_of(const MeasuredRow& row, std::string_view architecture) {
  const ProductFamily family = configs::product_family(architecture);
  for (const Entry& entry : kEntries) {
    if (entry.family != family || !row.text("impl").starts_with(entry.implementation)) continue;
    if (!entry.kernel.empty() && row.text("kernel") != entry.kernel) continue;
    if (entry.generator.empty()) return not_mapped(std::string(entry.text));
    return AttentionRelative{entry.library, entry.generator, entry.text, entry.forward, entry.backward};
  }
  return not_mapped("no generator for attention by " + escape::quoted(row.text("impl")));
}

}  // namespace warpfold::validation
