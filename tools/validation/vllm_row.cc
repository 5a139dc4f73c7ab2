#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

constexpr std::string_view kVidur = "vidur profiler, sarathi/vLLM layer ";
constexpr std::string_view kVllm = "vLLM ", kVersion = "0.19", kLayer = " layer ";
constexpr std::string_view kTokenWeave = "vLLM fused_add_rms_norm";

// "LAYER of MODEL tp2".
struct Named {
  std::string_view layer;
  std::string_view model;
  uint64_t ranks = 0;
};

constexpr uint64_t kLargest = 1 << 20;  // of a size: products of three of them are numbers of 64 bits

std::optional<uint64_t> whole(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kLargest) return std::nullopt;
  return value;
}

std::optional<Named> named_in(std::string_view text) {
  const size_t of = text.find(" of "), ranks = text.rfind(' ');
  if (of == std::string_view::npos || ranks <= of + 4) return std::nullopt;
  std::string_view last = text.substr(ranks + 1);
  if (!last.starts_with("tp") && !last.starts_with("TP")) return std::nullopt;
  const auto count = whole(last.substr(2));
  if (!count) return std::nullopt;
  return Named{text.substr(0, of), text.substr(of + 4, ranks - of - 4), *count};
}

std::unexpected<NotMapped> needed(const std::string& names) {
  return not_mapped("dims_other: " + names + " needed, each from 1 to " + std::to_string(kLargest));
}

// Sizes of a model, from its config.json at huggingface.co.
struct Model {
  std::string_view name;
  uint64_t hidden, expanded, heads, kv_heads, head_columns;
  bool head_norms;  // of queries and keys
};
constexpr std::array kModels{
    Model{"meta-llama/Llama-3.1-8B", 4096, 14336, 32, 8, 128, false},
    Model{"meta-llama/Llama-3.1-70B", 8192, 28672, 64, 8, 128, false}, Model{"Qwen/Qwen3-8B", 4096, 12288, 32, 8, 128, true},
    Model{"Qwen/Qwen3-14B", 5120, 17408, 40, 8, 128, true}, Model{"Qwen/Qwen3-32B", 5120, 25600, 64, 8, 128, true}};

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr std::array kServingSimLayers{
    Word<VllmLayer>{"layernorm", VllmLayer::kDecoderNorms}, Word<VllmLayer>{"final_layernorm", VllmLayer::kAddRmsNorm},
    Word<VllmLayer>{"qk_norm", VllmLayer::kHeadNorms},      Word<VllmLayer>{"act_fn", VllmLayer::kSiluMultiply},
    Word<VllmLayer>{"rotary_emb", VllmLayer::kRope},        Word<VllmLayer>{"embedding", VllmLayer::kEmbedding}};
// Vidur profiles gated models with RMSNorm in front of attention and of the network. A model without a gate has LayerNorm, and adds
// the results of attention and network to the residual.
struct VidurLayer {
  std::string_view word;
  VllmLayer gated, other;
};
constexpr std::array kVidurLayers{VidurLayer{"input_layernorm", VllmLayer::kRmsNorm, VllmLayer::kLayerNorm},
                                  VidurLayer{"mlp_act", VllmLayer::kSiluMultiply, VllmLayer::kGelu},
                                  VidurLayer{"attn_rope", VllmLayer::kRope, VllmLayer::kRope},
                                  VidurLayer{"add", VllmLayer::kAdd, VllmLayer::kAdds}};
// The only model without a gate in vidur/config/model_config.py.
constexpr std::string_view kWithoutGate = "microsoft/phi-2";

std::unexpected<NotMapped> no_layer(std::string_view layer) {
  return not_mapped("no kernels known of vLLM's layer " + escape::quoted(std::string(layer)));
}

// Divides the model's sizes by the ranks.
Mapped<VllmRow> of_rank(VllmRow row, uint64_t ranks) {
  if (row.expanded % ranks != 0 || row.heads % ranks != 0 || row.kv_heads % ranks != 0)
    return not_mapped("the model has no whole parts for " + std::to_string(ranks) + " ranks");
  row.expanded /= ranks;
  row.heads /= ranks;
  row.kv_heads /= ranks;
  return row;
}

Mapped<VllmRow> vidur_row(const MeasuredRow& from, VllmRow row, const Named& named) {
  row.profile = VllmProfile::kVidur;
  const auto* const layer = std::ranges::find(kVidurLayers, named.layer, &VidurLayer::word);
  if (layer == kVidurLayers.end()) return no_layer(named.layer);
  const auto tokens = whole(from.option("tokens")), hidden = whole(from.option("n_embd")), heads = whole(from.option("n_head")),
             kv_heads = whole(from.option("n_kv")), expanded = whole(from.option("n_expanded"));
  const std::string gated = from.option("gated");
  if (!tokens || !hidden || !heads || !kv_heads || !expanded || (gated != "True" && gated != "False"))
    return needed("tokens, n_embd, n_head, n_kv and n_expanded, and gated=True or gated=False, are");
  if (const std::string ranks = from.option("TP"); !ranks.empty() && whole(ranks) != named.ranks)
    return not_mapped("dims_other: TP is not that of the row's impl, " + std::to_string(named.ranks));
  row.gated = gated == "True";
  if (!row.gated && named.model != kWithoutGate)
    return not_mapped("no norm known of a model without a gate: " + escape::quoted(std::string(named.model)));
  if (*hidden % *heads != 0) return not_mapped("n_embd has no whole heads");
  row.layer = row.gated ? layer->gated : layer->other;
  row.tokens = *tokens;
  row.hidden = *hidden;
  row.heads = *heads;
  row.kv_heads = *kv_heads;
  row.head_columns = *hidden / *heads;
  row.expanded = *expanded;
  return of_rank(row, named.ranks);
}

Mapped<VllmRow> serving_sim_row(const MeasuredRow& from, VllmRow row, const Named& named) {
  row.profile = VllmProfile::kServingSim;
  const auto* const layer = std::ranges::find(kServingSimLayers, named.layer, &Word<VllmLayer>::word);
  if (layer == kServingSimLayers.end()) return no_layer(named.layer);
  const auto* const model = std::ranges::find(kModels, named.model, &Model::name);
  if (model == kModels.end()) return not_mapped("no sizes known of the model " + escape::quoted(std::string(named.model)));
  const auto tokens = whole(from.option("tokens")), hidden = whole(from.option("n_embd"));
  if (!tokens) return needed("tokens are");
  if (hidden && *hidden != model->hidden) return not_mapped("n_embd is not that of the model, " + std::to_string(model->hidden));
  if (layer->value == VllmLayer::kHeadNorms && !model->head_norms) return not_mapped("the model has no norm of heads");
  row.layer = layer->value;
  row.tokens = *tokens;
  row.hidden = model->hidden;
  row.heads = model->heads;
  row.kv_heads = model->kv_heads;
  row.head_columns = model->head_columns;
  row.expanded = model->expanded;
  return of_rank(row, named.ranks);
}

// artifact/figure_4_10/bench.py: all tokens, or the tokens of one GPU of `world`.
Mapped<VllmRow> token_weave_row(const MeasuredRow& from, VllmRow row) {
  row.profile = VllmProfile::kTokenWeave;
  row.layer = VllmLayer::kAddRmsNorm;
  const auto tokens = whole(from.option("tokens")), hidden = whole(from.option("hidden")), world = whole(from.option("world"));
  if (!tokens || !hidden) return needed("tokens and hidden are");
  row.tokens = *tokens;
  row.hidden = *hidden;
  if (from.text("kernel").find("tokens/") == std::string::npos) return row;
  if (!world || *tokens % *world != 0) return not_mapped("dims_other: world is needed, which tokens are a multiple of");
  row.tokens /= *world;
  return row;
}

Mapped<VllmRow> read(const MeasuredRow& from) {
  const std::string_view by = from.text("impl");
  const bool vidur = by.starts_with(kVidur);
  const std::string needed = vidur ? "fp16" : "bf16";
  if (from.text("dtype") != needed) return not_mapped("this profile's kernels are of " + needed);
  if (by == kTokenWeave) return token_weave_row(from, {});
  const size_t layer = by.find(kLayer);
  const std::string_view version = by.substr(kVllm.size(), layer - kVllm.size());
  if (!vidur && version != kVersion)
    return not_mapped("vLLM's kernels are known of " + std::string(kVersion) + ", not of " + escape::quoted(std::string(version)));
  const auto named = named_in(by.substr(layer + kLayer.size()));
  if (!named) return not_mapped("no layer, model and ranks in " + escape::quoted(std::string(by)));
  return vidur ? vidur_row(from, {}, *named) : serving_sim_row(from, {}, *named);
}

}  // namespace

bool of_vllm(const MeasuredRow& row) {
  const std::string_view by = row.text("impl");
  return by == kTokenWeave || by.starts_with(kVidur) || (by.starts_with(kVllm) && by.find(kLayer) != std::string_view::npos);
}

Mapped<VllmRow> vllm_row(const MeasuredRow& from) {
  auto row = read(from);
  if (row && row->hidden % 8 != 0) return not_mapped("rows of " + std::to_string(row->hidden) + " are no whole 16-byte vectors");
  return row;
}

}  // namespace warpfold::validation
