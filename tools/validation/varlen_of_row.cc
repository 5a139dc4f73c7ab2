#include <charconv>

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {
namespace {

constexpr std::string_view kProfiler = "FLASH_ATTENTION (vidur-type profiler)";

Mapped<uint64_t> tokens_before(const MeasuredRow& row) {
  const std::string text = row.option("kv before chunk");
  uint64_t tokens = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  if (error != std::errc() || end != text.data() + text.size() || tokens == 0)
    return not_mapped("dims_other: kv before chunk is needed, from 1 on");
  return tokens;
}

}  // namespace

bool of_varlen_profiler(const MeasuredRow& row) { return row.text("impl") == kProfiler; }

Mapped<RowWork> varlen_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const bool decode = row.text("kernel") == "paged decode attention alone";
  if (!decode && row.text("kernel") != "paged prefill attention alone")
    return not_mapped("no generator for this kernel of LLMServingSim's profiler");
  const auto stated = attention_shape_of(row);
  if (!stated) return std::unexpected(stated.error());
  configs::AttentionShape shape = *stated;
  shape.set_causal(true);
  shape.set_queries(shape.keys());
  shape.clear_keys();
  if (decode) {
    if (shape.batch() == 0 || shape.queries() < shape.batch()) return not_mapped("less than a key for each of the decodes");
    shape.set_keys(shape.queries() / shape.batch());
    shape.set_queries(1);
  } else {
    const auto keys = tokens_before(row);
    if (!keys) return std::unexpected(keys.error());
    shape.set_keys(*keys);
  }
  RowWork work;
  work.family = decode ? "decode attention" : "attention forward";
  work.kernel = "flash_attention_2, varlen";
  work.shape = row.text("dtype") + " " + std::to_string(shape.batch()) + "x" + std::to_string(shape.heads()) + "/" +
               std::to_string(shape.kv_heads()) + "x" + std::to_string(shape.keys()) + "x" + std::to_string(shape.head_dim()) +
               " queries=" + std::to_string(shape.queries());
  configs::Kernel& attention = work.kernels.emplace_back();
  attention.set_name("attention");
  attention.set_l2(configs::WARM);
  *attention.mutable_flash_attention_2()->mutable_shape() = shape;
  work.timing = RowTiming{.timer = Timer::kProfiler};
  // The profiler makes some 40 calls of at most a quarter of a millisecond: power stays below its limit, the clock at its highest.
  work.clock_mhz = gpu.power().has_clock_limit_mhz() ? gpu.power().clock_limit_mhz() : gpu.clock_mhz();
  return work;
}

}  // namespace warpfold::validation
