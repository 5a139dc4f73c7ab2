#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
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
    Pass{"attention bwd", "attention backward", 2.5, false, true},
    Pass{"attention bwd (preprocess+main+postprocess)", "attention backward", 2.5, false, true},
    Pass{"attention fwd+bwd", "attention forward and backward", 3.5, true, true},
};

Mapped<bool> is_causal(const MeasuredRow& row) {
  const std::string& text = row.text("causal");
  // "1 (inferred from level)" marks a source that does not state it.
  if (text == "1" || text.starts_with("1 ")) return true;
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
  if (!row.option("window").empty()) return not_mapped("attention in a window has no generator");
  if (const auto dv = row.option("head_dim_v"); !dv.empty() && dv != row.text("head_dim"))
    return not_mapped("values of another width than keys have no generator");
  return shape;
}

Mapped<RowWork> attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (of_varlen_profiler(row)) return varlen_of_row(row, gpu);
  const Pass* pass = nullptr;
  for (const Pass& each : kPasses) {
    if (row.text("kernel") == each.published) pass = &each;
  }
  if (pass == nullptr) return not_mapped("no generator for " + escape::quoted(row.text("kernel")));
  const std::string_view generator = generator_of(row.text("impl"));
  if (generator.empty()) return not_mapped("no generator for attention by " + escape::quoted(row.text("impl")));
  auto shape = square_attention_of_row(row);
  if (!shape) return std::unexpected(shape.error());
  if (generator == "flash_attention_3" && pass->backward && shape->head_dim() != 64 && shape->head_dim() != 128)
    return not_mapped("FlashAttention-3's backward pass has a generator for head_dim 64 and 128 only");
  if (generator == "flash_attention_4" && shape->head_dim() != 64 && shape->head_dim() != 128)
    return not_mapped("FlashAttention-4 has a generator for head_dim 64 and 128 only");
  const bool drops = dropout_of(row) > 0;
  if (drops && generator == "flash_attention_4") return not_mapped("FlashAttention-4 with dropout has no generator");
  if (drops && pass->backward) return not_mapped("the backward pass with dropout has no generator");
  // FlashAttention-2 generates its bits itself: Philox with seven rounds, eight bits per element (csrc/flash_attn/src: philox.cuh,
  // dropout.h).
  if (drops && generator == "flash_attention_2") shape->set_dropout(configs::FUSED_PHILOX);
  RowWork work;
  work.family = std::string(pass->family).append(drops ? " with dropout" : "");
  work.kernel = std::string(generator).append(shape->causal() ? ", causal" : "");
  work.shape = row.text("dtype") + " " + std::to_string(shape->batch()) + "x" + std::to_string(shape->heads()) + "x" +
               std::to_string(shape->queries()) + "x" + std::to_string(shape->head_dim()) + (shape->causal() ? " causal" : "");
  work.kernels = kernels_of(generator, *pass, *shape);
  if (generator == "flash_attention_4") {
    if (pass->backward) fill_backward(row, work);
    work.under_cap = gpu.power().gpu() == gpu.name() && !row.clock_mhz();
  }
  if (generator == "flash_attention_3" && pass->forward && shape->causal()) work.around.push_back(clearing());
  work.launches = true;
  const auto queries = static_cast<double>(shape->queries());
  work.work = 4 * queries * queries * shape->head_dim() * static_cast<double>(shape->heads()) *
              static_cast<double>(shape->batch()) * pass->products * (shape->causal() ? 0.5 : 1);
  work.rate_unit = "TFLOPS";
  return work;
}

Mapped<void> expect_dropout_stated(const MeasuredRow& row, const configs::Kernel& kernel) {
  if (dropout_of(row) <= 0 || !kernel.has_flash_attention_3() || kernel.flash_attention_3().shape().has_dropout()) return {};
  return not_mapped("where its dropout takes its bits from is not stated: set has no shape.dropout");
}

}  // namespace warpfold::validation
