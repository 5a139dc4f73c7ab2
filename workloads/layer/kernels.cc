#include "workloads/layer/kernels.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "configs/architecture.h"
#include "configs/launch_sizes.h"
#include "configs/load.h"

namespace warpfold::layer {

namespace {

using configs::ProductFamily;

const Operator& first_of(const Graph& graph, const FusedKernel& kernel) {
  return graph.operators[static_cast<size_t>(kernel.operators.front())];
}

// Path of the listing that a launch description names relative to its own path.
std::string listing_beside(const std::string& file, const configs::KernelLaunch& launch) {
  return (std::filesystem::path(file).parent_path() / launch.listing()).lexically_normal().string();
}

class Mapper {
 public:
  Mapper(const Graph& graph, const FusedKernel& kernel, const KernelSource& source)
      : graph_(graph), kernel_(kernel), source_(source), family_(configs::product_family(source.gpu.architecture())) {}

  Expected<LayerWorkload> run() const {
    const Operator& first = first_of(graph_, kernel_);
    if (first.kind == OperatorClass::kCommunication) return none("a transfer between GPUs, by the link's bandwidth and latency");
    auto compiled = from_table();
    if (!compiled || !compiled->kernels.empty()) return compiled;
    if (first.work == Work::kProduct) return product(first);
    const bool is_attention = first.work == Work::kAttention || first.work == Work::kAttentionGradient;
    if (is_attention && source_.layout == configs::TOKENS_INNERMOST)
      return none("attention reads the elements of a head side by side");
    if (is_attention) return attention(first);
    if (kernel_.operators.size() > 1) return siblings();
    if (source_.layout == configs::TOKENS_INNERMOST && !knows_no_layout())
      return none(std::string("no kernel of tokens innermost for ") + name_of(first.work));
    return elementwise(first);
  }

 private:
  static LayerWorkload none(const std::string& why) { return {{}, why}; }

  const Operator& at(int index) const { return graph_.operators[static_cast<size_t>(index)]; }

  // Takes the first row that fits; if rows are candidates, all that fit.
  Expected<LayerWorkload> from_table() const {
    LayerWorkload found;
    for (const configs::OperatorKernel& row : source_.listings.kernel()) {
      if (!found.kernels.empty() && !row.candidate()) continue;
      auto listing = listed(row);
      if (!listing) return std::unexpected(listing.error());
      if (!*listing) continue;
      (found.kernels.empty() ? found.kernels : found.candidates).push_back(std::move(**listing));
      if (row.candidate()) continue;
      for (const auto& each : row.then()) {
        auto next = made_of(each);
        if (!next) return std::unexpected(next.error());
        if (*next) found.kernels.push_back(std::move(**next));
      }
      break;
    }
    return found;
  }

  // True if the row is a plain product. A factor is a parameter of the product's kernel and does not matter.
  bool does_product(const configs::OperatorKernel& row) const {
    const Operator& first = at(kernel_.operators.front());
    return first.work == Work::kProduct && row.operator__size() == 1 && row.operator_(0) == name_of(first.work) &&
           behind_product().empty() && graph_.tensor(kernel_.inputs.front()).bytes == row.word_bytes();
  }

  bool does_operators_of(const configs::OperatorKernel& row) const {
    if (does_product(row)) return true;
    if (row.operator__size() != static_cast<int>(kernel_.operators.size())) return false;
    for (int i = 0; i < row.operator__size(); ++i) {
      if (row.operator_(i) != name_of(at(kernel_.operators[static_cast<size_t>(i)]).work)) return false;
    }
    if (row.layout() != source_.layout && !knows_no_layout()) return false;
    const auto stored = std::ranges::count_if(kernel_.outputs, [&](int id) { return graph_.tensor(id).words() > 0; });
    const Operator& first = at(kernel_.operators.front());
    return (!row.has_word_bytes() || row.word_bytes() == graph_.tensor(kernel_.inputs.front()).bytes) &&
           (!row.has_outputs() || row.outputs() == stored) && (!row.has_head_dim() || row.head_dim() == extent(first, "p"));
  }

  // True if each element meets only elements at the same position of tensors with the same dimensions.
  bool knows_no_layout() const {
    return std::ranges::all_of(kernel_.operators, [&](int member) {
      const Operator& each = at(member);
      const bool turns = each.work == Work::kRope || each.work == Work::kRopeGradient;
      return each.kind == OperatorClass::kElementwise && !turns && std::ranges::all_of(each.inputs, [&](int id) {
               return volume(graph_.tensor(id).dimensions) == volume(each.independent);
             });
    });
  }

  // Size of a dimension in the operator's iteration space; 1 if it is absent.
  static uint64_t extent(const Operator& each, const std::string& dimension) {
    for (const Dimensions* all : {&each.independent, &each.reduction}) {
      for (const Dimension& one : *all) {
        if (one.name == dimension) return one.size;
      }
    }
    return 1;
  }

  uint64_t columns_of(const Operator& first) const {
    if (!first.reduction.empty()) return volume(first.reduction);
    const uint64_t elements = volume(first.independent);
    const uint64_t shared = first.inputs.size() > 1 ? volume(graph_.tensor(first.inputs[1]).dimensions) : elements;
    return shared < elements ? shared : first.independent.back().size;
  }

  uint64_t whole_size(configs::OperatorSize of, const Operator& first) const {
    const uint64_t elements = volume(first.independent) * volume(first.reduction);
    switch (of) {
      case configs::ROWS:
        return elements / columns_of(first);
      case configs::COLUMNS:
        return columns_of(first);
      case configs::BATCH:
        return extent(first, "b");
      case configs::TOKENS:
        return extent(first, "j");
      case configs::FEATURES:
        return elements / extent(first, "b") / extent(first, "j");
      case configs::PRODUCT_M:
        return first.product.m;
      case configs::PRODUCT_N:
        return first.product.n;
      case configs::PRODUCT_K:
        return first.product.k;
      case configs::PRODUCT_COUNT:
        return first.product.count;
      default:
        return elements;
    }
  }

  uint64_t size_of(const configs::OperatorKernel::Size& size) const {
    const uint64_t whole = whole_size(size.of(), at(kernel_.operators[size.operator_at()]));
    const uint64_t divide = size.has_divide() ? size.divide() : 1;
    const uint64_t multiple = size.has_multiple_of() ? size.multiple_of() : 1;
    const uint64_t exact = (whole * (size.has_times() ? size.times() : 1) + divide - 1) / divide;
    return (exact + multiple - 1) / multiple * multiple;
  }

  Expected<std::optional<configs::Kernel>> listed(const configs::OperatorKernel& row) const {
    const bool does = does_operators_of(row) && std::ranges::all_of(row.only(), [&](const auto& range) {
                        const uint64_t size = whole_size(range.of(), at(kernel_.operators[range.operator_at()]));
                        return size >= range.least() && (!range.has_most() || size <= range.most());
                      });
    return does ? made_of(row) : std::optional<configs::Kernel>{};
  }

  // Empty if the kernel is for another architecture.
  template <typename Launch>
  Expected<std::optional<configs::Kernel>> made_of(const Launch& of) const {
    std::vector<std::string> settings;
    for (const auto& size : of.size()) settings.push_back(size.path() + "=" + std::to_string(size_of(size)));
    auto launch = configs::load_kernel_launch(of.launch(), settings);
    if (!launch) return std::unexpected(launch.error());
    configs::settle_architecture(*launch, source_.gpu);
    const std::string& runs_on = launch->has_runs_on() ? launch->runs_on() : launch->architecture();
    if (runs_on != source_.gpu.architecture()) return std::nullopt;
    configs::Kernel made;
    made.mutable_listing()->set_path(of.has_listing() ? of.listing() : listing_beside(of.launch(), *launch));
    *made.mutable_listing()->mutable_description() = std::move(*launch);
    return made;
  }

  // Operators that were fused only to save a launch share no tensor: they run as separate kernels, one after the other.
  Expected<LayerWorkload> siblings() const {
    LayerWorkload all;
    for (const int member : kernel_.operators) {
      const Operator& each = at(member);
      const bool shares =
          std::ranges::any_of(kernel_.operators, [&](int other) { return other != member && shares_tensor(each, at(other)); });
      if (shares) return none("no kernel for the operators as one");
      auto alone = Mapper(graph_, {each.name, {member}, each.inputs, each.outputs}, source_).run();
      if (!alone || !alone->reason_not_simulated.empty()) return alone;
      all.kernels.insert(all.kernels.end(), alone->kernels.begin(), alone->kernels.end());
    }
    return all;
  }

  static bool shares_tensor(const Operator& one, const Operator& other) {
    return std::ranges::any_of(one.inputs,
                               [&](int id) {
                                 return std::ranges::find(other.outputs, id) != other.outputs.end() ||
                                        std::ranges::find(other.inputs, id) != other.inputs.end();
                               }) ||
           std::ranges::any_of(one.outputs, [&](int id) { return std::ranges::find(other.inputs, id) != other.inputs.end(); });
  }

  LayerWorkload product(const Operator& first) const {
    if (family_ == ProductFamily::kNone) return none("no matrix products of " + source_.gpu.architecture() + " are generated");
    const Product& of = first.product;
    configs::Kernel made;
    const auto set_shape = [&](auto& gemm) {
      gemm.set_m(of.m);
      gemm.set_n(of.n);
      gemm.set_k(of.k);
      gemm.set_type(source_.type);
    };
    if (family_ == ProductFamily::kWgmma) {
      configs::HopperGemm& gemm = *made.mutable_hopper_gemm();
      set_shape(gemm);
      gemm.set_tile(configs::AUTO);
      gemm.set_library(source_.library);
      if (of.count > 1) gemm.mutable_grouped()->set_groups(of.count);
      if (const auto left = fuse_behind(gemm)) return none(*left);
      return {{made}, {}};
    }
    if (of.count > 1) return none("no batches of products of " + source_.gpu.architecture() + " are generated");
    if (const auto left = behind_product(); !left.empty()) return none("no product is generated with " + left + " behind it");
    if (family_ == ProductFamily::kTcgen05) {
      set_shape(*made.mutable_blackwell_gemm());
      made.mutable_blackwell_gemm()->set_tile(configs::AUTO);
      made.mutable_blackwell_gemm()->set_library(source_.library);
    } else {
      set_shape(*made.mutable_ampere_gemm());
    }
    return {{made}, {}};
  }

  // Name of the first operator after the product that is not a factor.
  std::string behind_product() const {
    for (size_t i = 1; i < kernel_.operators.size(); ++i) {
      if (at(kernel_.operators[i]).work != Work::kScale) return name_of(at(kernel_.operators[i]).work);
    }
    return {};
  }

  // Adds the operators after the product to its epilogue. Returns the reason if the epilogue does not support one.
  std::optional<std::string> fuse_behind(configs::HopperGemm& gemm) const {
    for (size_t i = 1; i < kernel_.operators.size(); ++i) {
      switch (at(kernel_.operators[i]).work) {
        case Work::kScale:
          break;
        case Work::kBias:
          gemm.mutable_fused()->set_bias(true);
          break;
        case Work::kResidual:
          gemm.mutable_fused()->set_residual(true);
          break;
        case Work::kRelu:
          gemm.mutable_fused()->set_activation(configs::RELU);
          break;
        case Work::kGelu:
          gemm.mutable_fused()->set_activation(configs::GELU);
          break;
        case Work::kSilu:
          gemm.mutable_fused()->set_activation(configs::SILU);
          break;
        default:
          return std::string("no product is generated with ") + name_of(at(kernel_.operators[i]).work) + " behind it";
      }
    }
    return std::nullopt;
  }

  configs::AttentionShape shape_of(const Operator& first) const {
    configs::AttentionShape shape;
    const bool gradient = first.work == Work::kAttentionGradient;
    const Dimensions& queries = graph_.tensor(first.inputs[gradient ? 1 : 0]).dimensions;
    const Dimensions& keys = graph_.tensor(first.inputs[gradient ? 2 : 1]).dimensions;
    shape.set_batch(queries[0].size);
    shape.set_queries(queries[1].size);
    if (keys[1].size != queries[1].size) shape.set_keys(keys[1].size);
    shape.set_heads(queries[2].size);
    shape.set_kv_heads(keys[2].size);
    shape.set_head_dim(static_cast<uint32_t>(queries[3].size));
    shape.set_type(source_.type);
    if (first.causal) shape.set_causal(true);
    if (first.drops) shape.set_dropout(configs::FUSED_PHILOX);
    return shape;
  }

  LayerWorkload attention(const Operator& first) const {
    const configs::AttentionShape shape = shape_of(first);
    const bool gradient = first.work == Work::kAttentionGradient;
    LayerWorkload workload;
    const auto add = [&](auto mutable_attention, configs::AttentionPass pass) {
      auto& made = *(workload.kernels.emplace_back().*mutable_attention)();
      *made.mutable_shape() = shape;
      made.set_pass(pass);
    };
    const auto add_passes = [&](auto mutable_attention) {
      if (!gradient) return add(mutable_attention, configs::FORWARD);
      for (const auto pass : {configs::BACKWARD_PREPARE, configs::BACKWARD, configs::BACKWARD_CONVERT})
        add(mutable_attention, pass);
    };
    switch (family_) {
      case ProductFamily::kNone:
        return none("no attention of " + source_.gpu.architecture() + " is generated");
      case ProductFamily::kMmaSync:
        add_passes(&configs::Kernel::mutable_flash_attention_2);
        break;
      case ProductFamily::kWgmma:
        add_passes(&configs::Kernel::mutable_flash_attention_3);
        break;
      case ProductFamily::kTcgen05:
        add_passes(&configs::Kernel::mutable_flash_attention_4);
        break;
    }
    return workload;
  }

  // The passes of workloads/elementwise move the same tensors by the same accesses. They execute one instruction for two elements,
  // in place of the operator's own comparison or product. A bias or another row that all elements share stays in L1.
  LayerWorkload elementwise(const Operator& first) const {
    configs::ElementwiseOperation operation = configs::SCALE;
    switch (first.work) {
      case Work::kBias:
      case Work::kScale:
      case Work::kRelu:
        break;
      case Work::kResidual:
      case Work::kAccumulate:
      case Work::kMultiply:
      case Work::kDropoutGradient:
      case Work::kReluGradient:
        operation = configs::ADD;
        break;
      case Work::kSgd:
        operation = configs::TRIAD;
        break;
      default:
        return none(std::string("no kernel for ") + name_of(first.work));
    }
    configs::Kernel made;
    made.mutable_elementwise()->set_operation(operation);
    made.mutable_elementwise()->set_elements(volume(first.independent));
    made.mutable_elementwise()->set_element_bytes(graph_.tensor(first.inputs.front()).bytes);
    return {{made}, {}};
  }

  const Graph& graph_;
  const FusedKernel& kernel_;
  const KernelSource& source_;
  ProductFamily family_;
};

}  // namespace

Expected<LayerWorkload> transposition_of(uint64_t rows, uint64_t columns, const KernelSource& source) {
  Graph graph;
  graph.tensors.push_back({.name = "x", .dimensions = {{"j", rows}, {"i", columns}}});
  Operator turn{.name = "transpose", .work = Work::kTranspose, .independent = {{"j", rows}, {"i", columns}}, .inputs = {0}};
  graph.operators.push_back(std::move(turn));
  return workload_of(graph, {"transpose", {0}, {0}, {0}}, source);
}

Expected<LayerWorkload> workload_of(const Graph& graph, const FusedKernel& kernel, const KernelSource& source) {
  return Mapper(graph, kernel, source).run();
}

}  // namespace warpfold::layer
