#include <algorithm>
#include <utility>

#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

constexpr uint64_t kElementBytes = 2;
constexpr uint64_t kMostThreads = 1024, kMostRopeThreads = 512;
// csrc/layernorm_kernels.cu: threads of a CTA from 256 tokens on.
constexpr uint64_t kManyTokens = 256, kThreadsOfMany = 256;
// csrc/activation_kernels.cu: 32 bytes a thread from 128 tokens on, on Blackwell.
constexpr uint64_t kTokensOfPairs = 128;
constexpr uint64_t kVector = 8, kPair = 16;  // elements

std::string sized(const std::string& name, uint64_t value) { return "parameter." + name + ".value=" + std::to_string(value); }

// Launches as the sources state them (docs/validation/operators.md).
class VllmCall {
 public:
  VllmCall(const VllmRow& row, const configs::Gpu& gpu) : row_(row), gpu_(gpu) {}

  OperatorCall make() {
    take_layer();
    return std::move(call_);
  }

 private:
  void take_layer() {
    switch (row_.layer) {
      case VllmLayer::kRmsNorm:
        add("sarathi_rms_norm", {sized("rows", row_.tokens), sized("columns", row_.hidden), block(row_.hidden, kMostThreads)},
            {written("x", hidden_bytes())});
        return;
      case VllmLayer::kLayerNorm:
        add("torch_layer_norm", {sized("rows", row_.tokens), sized("columns", row_.hidden)}, {written("x", hidden_bytes())});
        return;
      case VllmLayer::kAddRmsNorm:
        final_norm();
        return;
      case VllmLayer::kDecoderNorms:
        decoder_norms();
        return;
      case VllmLayer::kHeadNorms:
        head_norm(row_.heads);
        head_norm(row_.kv_heads);
        call_.calls = 2;
        return;
      case VllmLayer::kSiluMultiply:
        silu_multiply();
        return;
      case VllmLayer::kGelu:
        add("torch_gelu", {sized("elements", row_.tokens * row_.expanded)},
            {written("x", row_.tokens * row_.expanded * kElementBytes)});
        return;
      case VllmLayer::kRope:
        rope();
        return;
      case VllmLayer::kAdd:
        sum({written("in", hidden_bytes()), read(network_bytes()), written("in2", hidden_bytes())});
        return;
      case VllmLayer::kAdds:
        sum({written("in", hidden_bytes()), read(network_bytes()), written("in2", hidden_bytes())});
        sum({written("in", hidden_bytes())});
        return;
      case VllmLayer::kEmbedding:
        embedding();
        return;
    }
  }

  static Touched written(std::string stream, uint64_t bytes) { return {std::move(stream), bytes, true}; }
  static Touched read(uint64_t bytes) { return {{}, bytes, false}; }
  static std::string block(uint64_t threads, uint64_t most) { return "block.x=" + std::to_string(std::min(threads, most)); }

  void add(const std::string& name, std::vector<std::string> settings, std::vector<Touched> before) {
    OperatorLaunch& launch = call_.launches.emplace_back();
    launch.name = name;
    launch.settings = std::move(settings);
    launch.before = std::move(before);
  }

  uint64_t hidden_bytes() const { return row_.tokens * row_.hidden * kElementBytes; }
  // Elements of a token's queries, keys and values.
  uint64_t stride() const { return (row_.heads + 2 * row_.kv_heads) * row_.head_columns; }
  uint64_t projected_bytes() const { return row_.tokens * stride() * kElementBytes; }
  // Bytes that the feed-forward network touches between its input and its result: weights and activations.
  uint64_t network_bytes() const {
    const uint64_t wide = row_.gated ? 2 : 1;
    return (wide + 1) * row_.expanded * (row_.hidden + row_.tokens) * kElementBytes;
  }
  // Bytes that attention touches between its input and its result; the tokens have no keys before them.
  uint64_t attention_bytes() const {
    const uint64_t queries = row_.heads * row_.head_columns;
    return (row_.hidden * (stride() + queries) + row_.tokens * (stride() + queries)) * kElementBytes;
  }

  uint64_t norm_threads(uint64_t rows) const { return rows < kManyTokens ? kMostThreads : kThreadsOfMany; }

  void add_norm(uint64_t threads, std::vector<Touched> before) {
    add("vllm_add_rms_norm", {sized("rows", row_.tokens), sized("columns", row_.hidden), block(row_.hidden, threads)},
        std::move(before));
  }
  // tokenweave_artifact_kernels.cu: one thread a vector. The published time is the least over several numbers of CTAs.
  // assumed: that of one CTA a token.
  void final_norm() {
    if (row_.profile == VllmProfile::kTokenWeave) {
      add_norm(std::min((row_.hidden / kVector + 31) / 32 * 32, kMostThreads), {});
      return;
    }
    add_norm(norm_threads(row_.tokens),
             {written("residual.loads", hidden_bytes()), read(network_bytes()), written("x.loads", hidden_bytes())});
  }
  // The profiled model has one layer. Its first norm has no residual yet; its second norm adds one.
  void decoder_norms() {
    add("vllm_rms_norm",
        {sized("rows", row_.tokens), sized("columns", row_.hidden), block(row_.hidden / kVector, norm_threads(row_.tokens))},
        {written("x", hidden_bytes())});
    add_norm(norm_threads(row_.tokens),
             {written("residual.loads", hidden_bytes()), read(attention_bytes()), written("x.loads", hidden_bytes())});
    call_.calls = 2;
  }
  void head_norm(uint64_t heads) {
    add("vllm_head_norm",
        {sized("rows", row_.tokens), sized("heads", heads), sized("columns", row_.head_columns),
         sized("stride", heads * row_.head_columns), block(row_.head_columns / kVector, norm_threads(row_.tokens * heads))},
        {written("x", row_.tokens * heads * row_.head_columns * kElementBytes)});
  }

  void silu_multiply() {
    const bool sarathi = row_.profile == VllmProfile::kVidur;
    const bool pairs = !sarathi && (gpu_.architecture().starts_with("sm_10") || gpu_.architecture().starts_with("sm_12")) &&
                       row_.tokens >= kTokensOfPairs && row_.expanded % kPair == 0;
    const uint64_t elements = sarathi ? 1 : pairs ? kPair : kVector;
    add(sarathi ? "sarathi_silu_multiply"
        : pairs ? "vllm_silu_multiply_pairs"
                : "vllm_silu_multiply",
        {sized("rows", row_.tokens), sized("columns", row_.expanded), block(row_.expanded / elements, kMostThreads)},
        {written("x", row_.tokens * 2 * row_.expanded * kElementBytes)});
  }

  void rope() {
    add(row_.profile == VllmProfile::kVidur ? "sarathi_rope" : "vllm_rope",
        {sized("rows", row_.tokens), sized("turned", row_.head_columns), sized("stride", stride()), sized("heads", row_.heads),
         sized("kv_heads", row_.kv_heads), sized("head_columns", row_.head_columns),
         block(row_.heads * row_.head_columns / 2, kMostRopeThreads)},
        {written("x.loads", projected_bytes())});
  }

  // vocab_parallel_embedding.py converts tokens to 64-bit integers, then gathers their rows of the table. LLMServingSim's tokens
  // are all the same (profiler/core/hooks/batch.py). assumed: the conversion copies 8 bytes a token with 128 threads a CTA.
  void embedding() {
    constexpr uint32_t kThreads = 128, kTokenBytes = 8;
    configs::Elementwise cast;
    cast.set_operation(configs::COPY);
    cast.set_elements(row_.tokens);
    cast.set_element_bytes(kTokenBytes);
    cast.set_access_bytes(kTokenBytes);
    cast.set_accesses_per_thread(4);
    cast.set_threads_per_cta(kThreads);
    add("", {}, {});
    call_.launches.back().pass = cast;
    add("torch_index_one_row", {sized("rows", row_.tokens), sized("columns", row_.hidden)}, {});
  }

  // assumed: PyTorch's addition before version 2.6, 128 threads of four elements.
  void sum(std::vector<Touched> before) {
    constexpr uint32_t kThreads = 128, kAccessBytes = 8;
    configs::Elementwise pass;
    pass.set_operation(configs::ADD);
    pass.set_elements(row_.tokens * row_.hidden);
    pass.set_element_bytes(kElementBytes);
    pass.set_access_bytes(kAccessBytes);
    pass.set_threads_per_cta(kThreads);
    add("", {}, std::move(before));
    call_.launches.back().pass = pass;
  }

  const VllmRow& row_;
  const configs::Gpu& gpu_;
  OperatorCall call_;
};

}  // namespace

OperatorCall vllm_call(const VllmRow& row, const configs::Gpu& gpu) { return VllmCall(row, gpu).make(); }

}  // namespace warpfold::validation
