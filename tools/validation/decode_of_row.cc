#include <charconv>

#include "configs/escape/quoted.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

// The number after `word`: 8 in "FlashAttention-3 paged, page 8, CUDA graph" for "page ".
uint32_t number_behind(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  uint32_t number = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
  return number;
}
// The number before `word`: 22 in "FlashAttention-3, 22 splits, GQA packing" for " splits".
uint32_t number_before(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  size_t first = at;
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  uint32_t number = 0;
  std::from_chars(text.data() + first, text.data() + at, number);
  return number;
}

Mapped<configs::AttentionShape> shape_of(const MeasuredRow& row) {
  auto shape = attention_shape_of(row);
  if (!shape) return shape;
  const uint32_t queries = number_behind(row.option("q"), "");
  shape->set_queries(queries == 0 ? 1 : queries);
  if (const uint32_t keys = number_behind(row.option("kv_len"), ""); keys != 0) shape->set_keys(keys);
  shape->set_causal(row.text("causal") == "1");
  return shape;
}

template <typename Attention>
void set_options(Attention& attention, const configs::AttentionShape& shape, std::string_view implementation) {
  *attention.mutable_shape() = shape;
  attention.set_splits(number_before(implementation, " splits"));
  if (const uint32_t page = number_behind(implementation, "page "); page > 0) attention.set_page_keys(page);
}

}  // namespace

Mapped<configs::AttentionShape> attention_shape_of(const MeasuredRow& row) {
  configs::AttentionShape shape;
  const auto type = element_type_of(row);
  if (!type) return std::unexpected(type.error());
  shape.set_type(*type);
  for (const std::string column : {"batch", "heads", "kv_heads", "seqlen", "head_dim"}) {
    const auto count = count_of(row, column);
    if (!count) return std::unexpected(count.error());
    if (column == "batch") shape.set_batch(*count);
    if (column == "heads") shape.set_heads(*count);
    if (column == "kv_heads") shape.set_kv_heads(*count);
    if (column == "seqlen") shape.set_keys(*count);
    if (column == "head_dim") shape.set_head_dim(static_cast<uint32_t>(*count));
  }
  return shape;
}

Mapped<RowWork> decode_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (of_varlen_profiler(row)) return varlen_of_row(row, gpu);
  if (row.text("kernel").find("decode attention") == std::string::npos && row.text("kernel") != "attention decode")
    return not_mapped("no generator for " + escape::quoted(row.text("kernel")));
  const std::string& by = row.text("impl");
  const bool three = by.starts_with("FlashAttention-3") || by.starts_with("flash_attention_3");
  const bool two = by.starts_with("FlashAttention-2") || by.starts_with("flash_attention_2") || by.starts_with("flash_attn 2");
  const bool flash_infer = by.starts_with("FlashInfer");
  if (!three && !two && !flash_infer) return not_mapped("no generator for decode attention by " + escape::quoted(by));
  const auto shape = shape_of(row);
  if (!shape) return std::unexpected(shape.error());
  RowWork work;
  work.family = "decode attention";
  work.kernel = three ? "flash_attention_3" : two ? "flash_attention_2" : "flash_attention_2, FlashInfer's tile";
  work.shape = row.text("dtype") + " " + std::to_string(shape->batch()) + "x" + std::to_string(shape->heads()) + "/" +
               std::to_string(shape->kv_heads()) + "x" + std::to_string(shape->keys()) + "x" + std::to_string(shape->head_dim()) +
               " queries=" + std::to_string(shape->queries());
  configs::Kernel& attention = work.kernels.emplace_back();
  attention.set_name("attention");
  if (three) {
    set_options(*attention.mutable_flash_attention_3(), *shape, by);
  } else {
    set_options(*attention.mutable_flash_attention_2(), *shape, by);
    if (flash_infer) attention.mutable_flash_attention_2()->set_warps_share_keys(true);
  }
  // If the row does not state the number of splits, the library's rule decides. The rule does not split if the tiles, one for each
  // KV head, are at least 0.8 of the CTAs that run at a time: one per SM, or two.
  const uint32_t splits = number_before(by, " splits");
  const uint64_t ctas = uint64_t{three ? 1U : 2U} * gpu.sm_count();
  if (splits > 1 || (splits == 0 && 10 * shape->batch() * shape->kv_heads() < 8 * ctas)) {
    configs::Kernel combine = attention;
    combine.set_name("combine");
    if (three) combine.mutable_flash_attention_3()->set_combine(true);
    if (!three) combine.mutable_flash_attention_2()->set_combine(true);
    work.kernels.push_back(combine);
  }
  work.launches = true;
  work.work = 4.0 * static_cast<double>(shape->batch() * shape->kv_heads() * shape->keys()) * shape->head_dim() *
              (shape->type() == configs::FP8 ? 0.5 : 1);
  work.rate_unit = "GB/s";
  return work;
}

}  // namespace warpfold::validation
