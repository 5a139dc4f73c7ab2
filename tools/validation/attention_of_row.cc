#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
#include "tools/validation/attention_relatives.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

struct Pass {
  std::string_view published;  // name in the column `kernel`
  std::string_view family;
  double products;  // matrix products relative to the forward pass, by the library's count
  bool forward;
  bool backward;
};

constexpr std::array kPasses{
    Pass{"attention fwd", "attention forward", 1, true, false},
    Pass{"attention fwd WGMMA", "attention forward", 1, true, false},
    Pass{"attention fwd mma.sync (TinyFA)", "attention forward", 1, true, false},
    Pass{"attention-sink fwd", "attention forward", 1, true, false},
    Pass{"attention bwd", "attention backward", 2.5, false, true},
    Pass{"attention bwd (preprocess+main+postprocess)", "attention backward", 2.5, false, true},
    Pass{"attention fwd+bwd", "attention forward and backward", 3.5, true, true},
};

Mapped<bool> is_causal(const MeasuredRow& row) {
  const std::string& text = row.text("causal");
  // "1 (inferred from level)" and "causal assumed" mark a source that does not state it.
  if (text == "1" || text.starts_with("1 ") || text.starts_with("causal assumed")) return true;
  if (text.empty() || text == "0" || text.starts_with("0 ")) return false;
  return not_mapped("whether it is causal is not stated: " + escape::quoted(text));
}

// "flash_attention_2", "flash_attention_3", "flash_attention_4", or empty.
std::string_view generator_of(const std::string& implementation) {
  for (const std::string_view name : {"FlashAttention-4", "FA4", "flash_attention_4"}) {
    if (implementation.starts_with(name)) return "flash_attention_4";
  }
  for (const std::string_view name : {"FlashAttention-3", "FA3", "flash_attention_3"}) {
    if (implementation.starts_with(name)) return "flash_attention_3";
  }
  // "sdpa flash": PyTorch's copy of FlashAttention-2.
  for (const std::string_view name :
       {"FlashAttention-2", "flash-attn 2", "flash_attn 2", "FA2", "flash_attention_2", "sdpa flash"}) {
    if (implementation.starts_with(name)) return "flash_attention_2";
  }
  return "";
}

bool is_overhead(const MeasuredRow& row) { return row.text("unit") == "%" && row.text("metric").starts_with("dropout overhead"); }

double dropout_of(const MeasuredRow& row) { return row.number("dropout").value_or(row.text("dropout").empty() ? 0 : 1); }

configs::Kernel pass_kernel(std::string_view generator, const configs::AttentionShape& shape, configs::AttentionPass pass) {
  configs::Kernel kernel;
  kernel.set_name("attention");
  const auto fill = [&](auto& attention) {
    *attention.mutable_shape() = shape;
    if constexpr (requires { attention.set_pass(pass); }) {
      if (pass != configs::FORWARD) attention.set_pass(pass);
    }
  };
  if (generator == "flash_attention_3") {
    fill(*kernel.mutable_flash_attention_3());
  } else if (generator == "flash_attention_4") {
    fill(*kernel.mutable_flash_attention_4());
  } else {
    fill(*kernel.mutable_flash_attention_2());
  }
  return kernel;
}

std::vector<configs::Kernel> kernels_of(std::string_view generator, const Pass& pass, const configs::AttentionShape& shape) {
  std::vector<configs::Kernel> kernels;
  if (pass.forward) kernels.push_back(pass_kernel(generator, shape, configs::FORWARD));
  if (pass.backward) {
    for (const auto step : {configs::BACKWARD_PREPARE, configs::BACKWARD, configs::BACKWARD_CONVERT})
      kernels.push_back(pass_kernel(generator, shape, step));
  }
  return kernels;
}

bool says(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// Reads two options of the backward pass from the row's words: dQ added in a fixed order, and separate columns for P and dS.
void fill_backward(const MeasuredRow& row, RowWork& work) {
  const bool ordered = !row.option("deterministic").empty() || says(row.text("impl"), {"deterministic"});
  const bool own_columns = says(row.text("impl"), {"own columns", "dedicated P", "de-aliased"});
  for (configs::Kernel& kernel : work.kernels) {
    if (kernel.flash_attention_4().pass() != configs::BACKWARD) continue;
    if (ordered) kernel.mutable_flash_attention_4()->set_deterministic(true);
    if (own_columns) kernel.mutable_flash_attention_4()->set_own_columns(true);
  }
}

// FlashAttention-3's forward pass draws causal tiles from a counter, which a launch clears before. A copy of four bytes models it.
configs::Kernel clearing() {
  configs::Kernel kernel;
  kernel.set_name("tile_counter");
  kernel.mutable_elementwise()->set_operation(configs::COPY);
  kernel.mutable_elementwise()->set_elements(1);
  kernel.mutable_elementwise()->set_element_bytes(4);
  kernel.mutable_elementwise()->set_access_bytes(4);
  return kernel;
}

}  // namespace

Mapped<configs::AttentionShape> square_attention_of_row(const MeasuredRow& row) {
  configs::AttentionShape shape;
  const auto type = element_type_of(row);
  if (!type) return std::unexpected(type.error());
  shape.set_type(*type);
  for (const std::string column : {"batch", "heads", "seqlen", "head_dim"}) {
    const auto count = count_of(row, column);
    if (!count) return std::unexpected(count.error());
    if (column == "batch") shape.set_batch(*count);
    if (column == "heads") shape.set_heads(*count);
    if (column == "seqlen") shape.set_queries(*count);
    if (column == "head_dim") shape.set_head_dim(static_cast<uint32_t>(*count));
  }
  shape.set_kv_heads(row.count("kv_heads").value_or(shape.heads()));
  const auto causal = is_causal(row);
  if (!causal) return std::unexpected(causal.error());
  shape.set_causal(*causal);
  if (const std::string stated = row.option("kv_len"); !stated.empty()) {
    uint64_t keys = 0;
    const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), keys);
    if (error != std::errc{} || end != stated.data() + stated.size() || keys == 0)
      return not_mapped("dims_other: kv_len=" + stated + "; expected a whole number from 1 on");
    shape.set_keys(keys);
  }
  if (!row.option("window").empty()) return not_mapped("attention in a window has no generator");
  if (const auto dv = row.option("head_dim_v"); !dv.empty() && dv != row.text("head_dim"))
    return not_mapped("values of another width than keys have no generator");
  return shape;
}

namespace {

// The generator of a row's kernels: the library's own, or a relative's.
Mapped<AttentionRelative> origin_of(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (const std::string_view own = generator_of(row.text("impl")); !own.empty())
    return AttentionRelative{"", own, "", nullptr, nullptr};
  return attention_relative_of(row, gpu.architecture());
}

// Reports the combinations for which the generator has no kernels.
Mapped<void> expect_kernels(const AttentionRelative& origin, const Pass& pass, const configs::AttentionShape& shape, bool drops) {
  const std::string_view generator = origin.generator;
  const uint32_t head_dim = shape.head_dim();
  const bool short_head = head_dim == 64 || head_dim == 128;
  if (generator == "flash_attention_3" && pass.backward && !short_head)
    return not_mapped("FlashAttention-3's backward pass has a generator for head_dim 64 and 128 only");
  if (generator == "flash_attention_3" && pass.backward && shape.type() == configs::FP8)
    return not_mapped("no generator has a backward pass in FP8");
  if (generator == "flash_attention_4" && !short_head)
    return not_mapped("FlashAttention-4 has a generator for head_dim 64 and 128 only");
  if (generator == "flash_attention_4" && shape.type() == configs::FP8)
    return not_mapped("FlashAttention-4 has a generator for BF16 and FP16 only");
  if (drops && generator == "flash_attention_4") return not_mapped("FlashAttention-4 with dropout has no generator");
  if (drops && pass.backward) return not_mapped("the backward pass with dropout has no generator");
  return {};
}

void set_public_facts(const AttentionRelative& origin, std::vector<configs::Kernel>& kernels) {
  for (configs::Kernel& kernel : kernels) {
    const bool forward = kernel.flash_attention_2().pass() == configs::FORWARD &&
                         kernel.flash_attention_3().pass() == configs::FORWARD &&
                         kernel.flash_attention_4().pass() == configs::FORWARD;
    if (const auto set = forward ? origin.forward : origin.backward; set != nullptr) set(kernel);
  }
}

}  // namespace

Mapped<RowWork> attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (of_varlen_profiler(row)) return varlen_of_row(row, gpu);
  const auto* const pass = std::ranges::find(kPasses, row.text("kernel"), &Pass::published);
  if (pass == kPasses.end()) return not_mapped("no generator for " + escape::quoted(row.text("kernel")));
  const auto origin = origin_of(row, gpu);
  if (!origin) return std::unexpected(origin.error());
  const std::string_view generator = origin->generator;
  const bool relative = !origin->library.empty();
  auto shape = square_attention_of_row(row);
  if (!shape) return std::unexpected(shape.error());
  const bool drops = dropout_of(row) > 0;
  if (auto known = expect_kernels(*origin, *pass, *shape, drops); !known) return std::unexpected(known.error());
  if (is_overhead(row) && !drops) return not_mapped("an overhead of dropout needs a probability above 0");
  RowWork work;
  work.family = std::string(pass->family).append(is_overhead(row) ? ", overhead of dropout" : drops ? " with dropout" : "");
  work.kernel = relative ? std::string(origin->library).append(" by ").append(generator) : std::string(generator);
  work.kernel += shape->causal() ? ", causal" : "";
  if (relative) {
    work.family += ", by a relative";
    work.relative = origin->differs;
  }
  work.shape = row.text("dtype") + " " + std::to_string(shape->batch()) + "x" + std::to_string(shape->heads()) + "x" +
               std::to_string(shape->queries()) + "x" + std::to_string(shape->head_dim()) + (shape->causal() ? " causal" : "");
  if (shape->has_keys()) work.shape += " keys=" + std::to_string(shape->keys());
  const auto kernels = [&] {
    std::vector<configs::Kernel> made = kernels_of(generator, *pass, *shape);
    set_public_facts(*origin, made);
    return made;
  };
  if (is_overhead(row)) work.without = kernels();
  // FlashAttention-2 generates its bits itself: Philox with seven rounds, eight bits per element (csrc/flash_attn/src: philox.cuh,
  // dropout.h).
  if (drops && generator == "flash_attention_2") shape->set_dropout(configs::FUSED_PHILOX);
  work.kernels = kernels();
  if (generator == "flash_attention_4") {
    if (pass->backward) fill_backward(row, work);
    work.under_cap = gpu.power().gpu() == gpu.name() && !row.clock_mhz();
  }
  if (!relative && generator == "flash_attention_3" && pass->forward && shape->causal()) work.around.push_back(clearing());
  work.launches = true;
  const auto queries = static_cast<double>(shape->queries());
  const auto keys = static_cast<double>(shape->has_keys() ? shape->keys() : shape->queries());
  work.work = 4 * queries * keys * shape->head_dim() * static_cast<double>(shape->heads()) * static_cast<double>(shape->batch()) *
              pass->products * (shape->causal() ? 0.5 : 1);
  work.rate_unit = "TFLOPS";
  return work;
}

Mapped<void> expect_dropout_stated(const MeasuredRow& row, const configs::Kernel& kernel) {
  if (dropout_of(row) <= 0 || !kernel.has_flash_attention_3() || kernel.flash_attention_3().shape().has_dropout()) return {};
  return not_mapped("where its dropout takes its bits from is not stated: set has no shape.dropout");
}

}  // namespace warpfold::validation
