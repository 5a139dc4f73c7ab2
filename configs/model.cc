#include "configs/model.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/base_chain.h"
#include "configs/scenario_changes.h"
#include "configs/search_path.h"
#include "configs/size_limits.h"

namespace warpfold::configs {

namespace {

constexpr uint64_t kMostCopyCtas = 64;  // NCCL User Guide, NCCL_MAX_CTAS: up to 64

// SwiGLU's inner layer keeps the parameters of one of 4 x hidden: 8/3, rounded up to a multiple of 256 (facebookresearch/llama,
// llama/model.py: FeedForward, multiple_of).
uint64_t default_feed_forward(const TransformerModel& model) {
  constexpr uint64_t kMultiple = 256;
  if (!model.gated()) return 4 * model.hidden();
  return (8 * model.hidden() / 3 + kMultiple - 1) / kMultiple * kMultiple;
}

// A list of operators is of one GPU and has no sizes of a model card.
std::optional<Finding> find_list_fault(const TransformerModel& model) {
  static const std::vector<std::string> kOfList{"base", "name", "description", "type", "layers", "dimension", "tensor", "operator"};
  std::vector<const google::protobuf::FieldDescriptor*> set;
  model.GetReflection()->ListFields(model, &set);
  for (const auto* field : set) {
    if (std::ranges::find(kOfList, field->name()) != kOfList.end()) continue;
    return Finding{field->name(), "a model that lists its operators has no " + field->name()};
  }
  if (model.operator_().empty()) return Finding{"", "dimensions and tensors without an operator"};
  return std::nullopt;
}

void fill_defaults(TransformerModel& model) {
  if (!model.has_heads() && model.head_dim() > 0) model.set_heads(model.hidden() / model.head_dim());
  if (!model.has_feed_forward() && model.hidden() > 0 && model.hidden() <= kMostSize)
    model.set_feed_forward(default_feed_forward(model));
  if (!model.has_kv_heads()) model.set_kv_heads(model.heads());
  if (!model.has_head_dim() && model.heads() > 0) model.set_head_dim(model.hidden() / model.heads());
  if (!model.has_tensor_parallel()) model.set_tensor_parallel(1);
  if (!model.has_context_parallel()) model.set_context_parallel(1);
  if (!model.has_layers()) model.set_layers(1);
  if (!model.has_data_parallel()) model.set_data_parallel(1);
  if (!model.has_data_link_gb_per_s()) model.set_data_link_gb_per_s(model.link_gb_per_s());
  if (!model.has_data_link_latency_us()) model.set_data_link_latency_us(model.link_latency_us());
}

std::string divides(const char* field, uint64_t value, const char* whole, uint64_t size) {
  return std::string(field) + " must divide " + whole + " (" + std::to_string(size) + "), not " + std::to_string(value);
}

struct Size {
  const char* field;
  uint64_t value;
};

std::optional<Finding> find_size_fault(std::initializer_list<Size> sizes) {
  for (const Size& size : sizes) {
    if (size.value >= 1 && size.value <= kMostSize) continue;
    return Finding{size.field, std::string(size.field) + " must be from 1 to " + std::to_string(kMostSize) + ", not " +
                                   std::to_string(size.value)};
  }
  return std::nullopt;
}

std::optional<Finding> find_split_fault(const TransformerModel& model) {
  const uint64_t gpus = model.tensor_parallel();
  if (model.heads() % model.kv_heads() != 0)
    return Finding{"kv_heads", divides("kv_heads", model.kv_heads(), "heads", model.heads())};
  for (const Size& whole : {Size{"heads", model.heads()}, {"kv_heads", model.kv_heads()}, {"feed_forward", model.feed_forward()}}) {
    if (whole.value % gpus != 0) return Finding{"tensor_parallel", divides("tensor_parallel", gpus, whole.field, whole.value)};
  }
  const uint64_t parts = model.context_parallel();
  for (const Size& whole : {Size{"sequence", model.sequence()}, {"kv_heads of a GPU", model.kv_heads() / gpus}}) {
    if (whole.value % parts != 0) return Finding{"context_parallel", divides("context_parallel", parts, whole.field, whole.value)};
  }
  return std::nullopt;
}

std::optional<Finding> find_product_fault(const TransformerModel& model) {
  const auto too_large = [](std::initializer_list<uint64_t> factors) {
    uint64_t product = 1;
    for (const uint64_t factor : factors) {
      if (__builtin_mul_overflow(product, factor, &product) || product > kMostWords) return true;
    }
    return false;
  };
  if (too_large({model.batch(), model.heads(), model.sequence(), model.sequence()}))
    return Finding{"sequence", "batch x heads x sequence x sequence is more than " + std::to_string(kMostWords) + " scores"};
  const uint64_t keys = model.past() + model.sequence();
  if (too_large({model.batch(), model.heads(), model.sequence(), keys}) ||
      too_large({model.batch(), keys, model.kv_heads(), model.head_dim()}))
    return Finding{"past", "past and sequence make more than " + std::to_string(kMostWords) + " scores or elements of keys"};
  if (too_large({model.batch(), model.sequence(), model.feed_forward()}) ||
      too_large({model.batch(), model.sequence(), model.hidden()}))
    return Finding{"feed_forward", "a tensor of this model has more than " + std::to_string(kMostWords) + " elements"};
  return std::nullopt;
}

std::optional<Finding> find_type_fault(const TransformerModel& model) {
  if (model.type() == BF16 || model.type() == FP16) return std::nullopt;
  return Finding{"type", "type must be BF16 or FP16, not " + ElementType_Name(model.type())};
}

std::optional<Finding> find_link_fault(const TransformerModel& model) {
  const bool shared = model.tensor_parallel() > 1 || model.context_parallel() > 1;
  if (shared && !(model.link_gb_per_s() > 0))
    return Finding{model.tensor_parallel() > 1 ? "tensor_parallel" : "context_parallel",
                   "GPUs that share a layer need link_gb_per_s, above 0"};
  if (model.data_parallel() > 1 && !(model.data_link_gb_per_s() > 0))
    return Finding{"data_parallel", "groups that add up gradients need data_link_gb_per_s, above 0"};
  if (!(model.link_latency_us() >= 0)) return Finding{"link_latency_us", "link_latency_us must be at least 0"};
  if (!(model.data_link_latency_us() >= 0)) return Finding{"data_link_latency_us", "data_link_latency_us must be at least 0"};
  if (model.sequence_parallel() && model.tensor_parallel() < 2)
    return Finding{"sequence_parallel", "sequence_parallel shares tokens among the GPUs of tensor_parallel, of which there is one"};
  const uint64_t tokens = model.sequence() / model.context_parallel();
  if (model.sequence_parallel() && tokens % model.tensor_parallel() != 0)
    return Finding{"sequence_parallel", divides("tensor_parallel", model.tensor_parallel(), "tokens of a GPU", tokens)};
  if (model.zero_stage() > 3)
    return Finding{"zero_stage", "zero_stage must be from 0 to 3, not " + std::to_string(model.zero_stage())};
  if (model.zero_stage() > 0 && model.data_parallel() < 2)
    return Finding{"zero_stage", "zero_stage shares states among the groups of data_parallel, of which there is one"};
  if (model.copy_ctas() > kMostCopyCtas)
    return Finding{"copy_ctas",
                   "copy_ctas must be up to " + std::to_string(kMostCopyCtas) + ", not " + std::to_string(model.copy_ctas())};
  return std::nullopt;
}

}  // namespace

namespace {

std::optional<Finding> find_model_fault(const TransformerModel& model) {
  const auto heads_fault = find_size_fault({{"hidden", model.hidden()}, {"heads", model.heads()}});
  if (heads_fault) return heads_fault;
  // A head_dim that follows from hidden and heads comes out even.
  if (model.head_dim() * model.heads() != model.hidden() && model.hidden() / model.heads() == model.head_dim())
    return Finding{"heads", divides("heads", model.heads(), "hidden", model.hidden()) + "; or state head_dim"};
  const auto fault = find_size_fault({{"batch", model.batch()},
                                      {"sequence", model.sequence()},
                                      {"kv_heads", model.kv_heads()},
                                      {"head_dim", model.head_dim()},
                                      {"feed_forward", model.feed_forward()},
                                      {"tensor_parallel", model.tensor_parallel()},
                                      {"context_parallel", model.context_parallel()},
                                      {"data_parallel", model.data_parallel()},
                                      {"layers", model.layers()}});
  if (fault) return fault;
  if (model.past() > kMostSize)
    return Finding{"past", "past must be up to " + std::to_string(kMostSize) + ", not " + std::to_string(model.past())};
  if (const auto split = find_split_fault(model)) return split;
  if (const auto product = find_product_fault(model)) return product;
  if (auto type = find_type_fault(model)) return type;
  if (model.activation() == IDENTITY || model.activation() == SWIGLU)
    return Finding{"activation", "activation must be RELU, GELU or SILU, not " + Activation_Name(model.activation())};
  if (const auto link = find_link_fault(model)) return link;
  if (model.rotary() && model.head_dim() % 2 != 0)
    return Finding{"head_dim", "rotary turns pairs of elements: head_dim must be even, not " + std::to_string(model.head_dim())};
  if (model.norm() == ADAPTIVE_LAYER_NORM && model.placement() == BEHIND)
    return Finding{"placement", "ADAPTIVE_LAYER_NORM stands in front of attention and feed-forward: placement: BEFORE"};
  if (model.feed_forward_dropout() && !model.dropout())
    return Finding{"feed_forward_dropout", "feed_forward_dropout needs dropout: true"};
  return std::nullopt;
}

}  // namespace

std::optional<Finding> settle_model(TransformerModel& model) {
  const bool is_list = !model.operator_().empty() || !model.tensor().empty() || !model.dimension().empty();
  if (is_list) {
    if (auto fault = find_list_fault(model)) return fault;
  }
  fill_defaults(model);
  return is_list ? find_type_fault(model) : find_model_fault(model);
}

Expected<TransformerModel> load_model(const std::string& named, const std::vector<std::string>& settings, Places* written) {
  TransformerModel model;
  Places places;
  const auto path = find_config(named, "models");
  if (!path) return std::unexpected(path.error());
  if (auto loaded = BaseChain(model, places, "").load(*path, {}); !loaded) return std::unexpected(loaded.error());
  if (auto applied = apply_settings(model, settings, places); !applied) return std::unexpected(applied.error());
  if (model.name().empty()) model.set_name(std::filesystem::path(*path).stem().string());
  if (const auto fault = settle_model(model)) return places.fail(*fault);
  if (written != nullptr) *written = std::move(places);
  return model;
}

}  // namespace warpfold::configs
