#include "configs/block.h"

#include <string>

#include "configs/architecture.h"
#include "configs/merge.h"

namespace warpfold::configs {

namespace {

// The setting of Ma, Liu and Krashinsky, "Reducing the Cost of Dropout in Flash-Attention by Hiding RNG with GEMM" (arXiv
// 2410.07531), where no other source is named; configs/scenarios/block_llama3_70b.textproto has the arguments.
constexpr uint32_t kRounds = 7;
constexpr uint32_t kThresholdBits = 32;  // docs/decisions/0007-threshold-width.md
constexpr uint32_t kThreadsPerCta = 128;
constexpr uint64_t kCallsPerThread = 64;   // assumed: short CTAs
constexpr double kRegisterPercent = 6.25;  // one CTA of 128 threads of an SM's 65536 registers; "6 %"
constexpr double kSharedMemoryPercent = 7;
constexpr double kWarpSlotPercent = 6.25;       // four of 64 warps
constexpr uint32_t kGemmRegisters = 160;        // 384 threads: 61440 registers, all that the reservation leaves
constexpr uint32_t kGemmSharedMemory = 216064;  // 233472 bytes of an SM less 7 % and 1024 of the system, in whole 128
constexpr uint64_t kHeadDim = 128;

struct Sizes {
  uint64_t embedding = 0;
  uint64_t heads = 0;  // of this GPU, as the next two
  uint64_t kv_heads = 0;
  uint64_t feed_forward = 0;
  uint64_t head_dim = 0;
  uint64_t tokens = 0;  // rows of the products
  uint64_t batch = 1;
  uint64_t queries = 0;
  uint64_t keys = 0;
  uint64_t attention_parts = 1;  // GPUs that share the heads of attention besides
  bool gated = false;
  bool causal = false;
  ElementType type = BF16;
};

class Maker {
 public:
  Maker(const TransformerModel& card, const Gpu& gpu, Scenario& scenario)
      : card_(card), block_(scenario.block()), architecture_(gpu.architecture()), scenario_(scenario) {}

  std::optional<Finding> run() {
    if (auto fault = find_sizes()) return fault;
    if (product_family(architecture_) == ProductFamily::kNone)
      return Finding{"block", "no attention with dropout is generated for " + architecture_ + ", only for sm_80 and later"};
    // One period of a stack: random numbers depend on nothing and may be made beside any product in front of their attention.
    const uint64_t columns = sizes_.heads * sizes_.head_dim;
    add_gemm("proj", sizes_.embedding, columns);
    add_gemm("fc1", (sizes_.gated ? 2 : 1) * sizes_.feed_forward, sizes_.embedding);
    add_gemm("fc2", sizes_.embedding, sizes_.feed_forward);
    add_gemm("qkv", (sizes_.heads + 2 * sizes_.kv_heads) * sizes_.head_dim, sizes_.embedding);
    add_random_numbers();
    add_attention();
    set_policy();
    scenario_.clear_block();
    return std::nullopt;
  }

 private:
  bool hopper() const { return product_family(architecture_) == ProductFamily::kWgmma; }
  bool tensor_memory() const { return product_family(architecture_) == ProductFamily::kTcgen05; }

  static std::string text(uint64_t number) { return std::to_string(number); }

  static Finding not_divided(const std::string& field, uint64_t value, const std::string& whole, uint64_t size) {
    return {"block." + field, field + " must divide " + whole + " (" + text(size) + "), not " + text(value)};
  }

  std::optional<Finding> find_sizes() {
    const bool carded = block_.has_model();
    sizes_.embedding = block_.has_embedding() ? block_.embedding() : card_.hidden();
    if (sizes_.embedding == 0) return Finding{"block", "embedding is missing: state it, or a model card: model=llama3_70b"};
    sizes_.batch = block_.has_batch() ? block_.batch() : carded ? card_.batch() : 1;
    sizes_.queries = block_.has_seq() ? block_.seq() : card_.sequence();
    if (sizes_.queries == 0) return Finding{"block", "seq is missing: tokens of each sequence"};
    if (sizes_.batch == 0) return Finding{"block.batch", "batch must be at least 1, not 0"};
    sizes_.keys = block_.has_keys() ? block_.keys() : sizes_.queries + card_.past();
    sizes_.gated = block_.has_gated() ? block_.gated() : card_.gated();
    sizes_.causal = block_.has_causal() ? block_.causal() : card_.causal();
    sizes_.type = block_.has_type() ? block_.type() : carded ? card_.type() : BF16;
    if (sizes_.causal && sizes_.keys % 2 != 0)
      return Finding{"block.keys", "causal takes an even number of keys, not " + text(sizes_.keys)};
    if (auto fault = find_heads()) return fault;
    return share_among_gpus();
  }

  std::optional<Finding> find_heads() {
    const bool own_size = block_.has_embedding() || !block_.has_model();
    sizes_.head_dim = block_.has_head_dim() ? block_.head_dim() : card_.head_dim();
    sizes_.heads = block_.has_heads() ? block_.heads() : own_size ? 0 : card_.heads();
    if (block_.has_heads() && block_.heads() == 0) return Finding{"block.heads", "heads must be at least 1, not 0"};
    if (!block_.has_head_dim() && block_.has_heads() && own_size) {
      if (sizes_.embedding % sizes_.heads != 0) {
        Finding fault = not_divided("heads", sizes_.heads, "embedding", sizes_.embedding);
        fault.message += "; or state head_dim";
        return fault;
      }
      sizes_.head_dim = sizes_.embedding / sizes_.heads;
    }
    if (sizes_.head_dim == 0) sizes_.head_dim = kHeadDim;
    if (sizes_.heads == 0) {
      if (sizes_.embedding % sizes_.head_dim != 0) return not_divided("head_dim", sizes_.head_dim, "embedding", sizes_.embedding);
      sizes_.heads = sizes_.embedding / sizes_.head_dim;
    }
    sizes_.kv_heads = block_.has_kv_heads() ? block_.kv_heads() : own_size ? sizes_.heads : card_.kv_heads();
    if (sizes_.kv_heads == 0 || sizes_.heads % sizes_.kv_heads != 0)
      return not_divided("kv_heads", sizes_.kv_heads, "heads", sizes_.heads);
    sizes_.feed_forward = block_.has_feed_forward() ? block_.feed_forward()
                          : own_size                ? 4 * sizes_.embedding
                                                    : card_.feed_forward();
    return std::nullopt;
  }

  // Tensor parallelism shares heads and feed-forward, context parallelism tokens and, in attention, heads.
  std::optional<Finding> share_among_gpus() {
    const uint64_t gpus = card_.has_tensor_parallel() ? card_.tensor_parallel() : 1;
    const uint64_t parts = card_.has_context_parallel() ? card_.context_parallel() : 1;
    for (const auto& [field, size] :
         {std::pair{"heads", &sizes_.heads}, {"kv_heads", &sizes_.kv_heads}, {"feed_forward", &sizes_.feed_forward}}) {
      if (*size % gpus != 0)
        return Finding{"block", std::string(field) + " must be a multiple of the card's tensor_parallel (" + text(gpus) +
                                    "), not " + text(*size)};
      *size /= gpus;
    }
    if (sizes_.queries % parts != 0 || sizes_.kv_heads % parts != 0)
      return Finding{"block", "the card's context_parallel (" + text(parts) + ") must divide seq and kv_heads of a GPU"};
    sizes_.tokens = sizes_.batch * sizes_.queries / parts;
    sizes_.attention_parts = parts;
    return std::nullopt;
  }

  Kernel& add(const std::string& name) {
    Kernel& kernel = *scenario_.add_kernel();
    kernel.set_name(name);
    kernel.set_stream(0);
    kernel.set_priority(1);
    return kernel;
  }

  void add_gemm(const std::string& name, uint64_t n, uint64_t k) {
    Kernel& kernel = add(name);
    const auto shape = [&](auto& gemm) {
      gemm.set_m(sizes_.tokens);
      gemm.set_n(n);
      gemm.set_k(k);
      gemm.set_type(sizes_.type);
      gemm.set_swizzle(8);  // assumed: CUTLASS's largest band
    };
    if (tensor_memory()) {
      BlackwellGemm& gemm = *kernel.mutable_blackwell_gemm();  // as configs/scenarios/block_b200.textproto
      shape(gemm);
      gemm.set_tile_m(128);
      gemm.set_tile_n(256);
      gemm.set_cta_group(2);
      if (sizes_.type == FP8) gemm.set_output_type(BF16);
      return;
    }
    if (!hopper()) {
      AmpereGemm& gemm = *kernel.mutable_ampere_gemm();  // as configs/scenarios/gemm_a100_fp16_4096.textproto
      shape(gemm);
      gemm.set_tile_k(32);
      gemm.set_stages(3);
      return;
    }
    HopperGemm& gemm = *kernel.mutable_hopper_gemm();
    shape(gemm);
    const bool eight_bit = sizes_.type == FP8;
    gemm.set_tile_m(128);
    gemm.set_tile_n(eight_bit ? 128 : 256);  // 16 bits: as configs/scenarios/gemm_h100_bf16_8192.textproto
    gemm.set_tile_k(eight_bit ? 128 : 64);
    gemm.set_cluster_m(2);
    gemm.set_cluster_n(eight_bit ? 2 : 1);
    gemm.set_schedule(COOPERATIVE);
    gemm.set_persistent(true);
    gemm.set_registers_per_thread(kGemmRegisters);
    gemm.set_shared_memory_limit_bytes(kGemmSharedMemory);
    if (!eight_bit) return;
    gemm.set_output_type(BF16);
    gemm.set_fp8_accumulation(FAST);
  }

  void add_random_numbers() {
    Kernel& kernel = *scenario_.add_kernel();
    kernel.set_name("rng");
    kernel.set_stream(1);
    kernel.set_priority(0);
    Philox& philox = *kernel.mutable_philox();
    philox.set_batch(sizes_.batch);
    philox.set_heads(sizes_.heads / sizes_.attention_parts);
    philox.set_queries(sizes_.queries);
    // assumed: bits of scores that a causal mask leaves out are not drawn, those of the diagonal's tiles counted half
    philox.set_keys(sizes_.causal ? sizes_.keys / 2 : sizes_.keys);
    philox.set_rounds(block_.has_rounds() ? block_.rounds() : kRounds);
    philox.set_threshold_bits(block_.has_threshold_bits() ? block_.threshold_bits() : kThresholdBits);
    philox.set_threads_per_cta(kThreadsPerCta);
    philox.set_calls_per_thread(kCallsPerThread);
  }

  void add_attention() {
    Kernel& kernel = add("attention");
    kernel.add_after("rng");
    AttentionShape& shape = tensor_memory() ? *kernel.mutable_flash_attention_4()->mutable_shape()
                            : hopper()      ? *kernel.mutable_flash_attention_3()->mutable_shape()
                                            : *kernel.mutable_flash_attention_2()->mutable_shape();
    shape.set_batch(sizes_.batch);
    shape.set_heads(sizes_.heads / sizes_.attention_parts);
    if (sizes_.kv_heads != sizes_.heads) shape.set_kv_heads(sizes_.kv_heads / sizes_.attention_parts);
    shape.set_queries(sizes_.queries);
    if (sizes_.keys != sizes_.queries) shape.set_keys(sizes_.keys);
    shape.set_head_dim(static_cast<uint32_t>(sizes_.head_dim));
    shape.set_type(tensor_memory() && sizes_.type == FP8 ? BF16 : sizes_.type);  // FlashAttention-4 has no FP8
    if (sizes_.causal) shape.set_causal(true);
    shape.set_dropout(STORED_BITS);
    if (sizes_.type == FP8 && kernel.has_flash_attention_3()) kernel.mutable_flash_attention_3()->set_tile_keys(128);
  }

  void set_policy() {
    Policy policy;
    if (tensor_memory()) {  // a GEMM's CTA leaves room for others: nothing is to be kept free
      policy.set_kind(CONCURRENT);
    } else {
      policy.set_kind(CARVE_OUT);
      reserve(policy);
    }
    policy.mutable_pipelined()->set_steady_state(true);
    merge_over(policy, scenario_.policy());
    *scenario_.mutable_policy() = policy;
    if (scenario_.compare().empty()) {
      for (const PolicyKind kind : {FUSED, SEQUENTIAL, tensor_memory() ? CONCURRENT : CARVE_OUT}) scenario_.add_compare(kind);
    }
  }

  static void reserve(Policy& policy) {
    Reservation& reserve = *policy.add_reserve();
    reserve.set_kernel("rng");
    reserve.set_register_percent(kRegisterPercent);
    reserve.set_shared_memory_percent(kSharedMemoryPercent);
    reserve.set_warp_slot_percent(kWarpSlotPercent);
  }

  const TransformerModel& card_;
  const Block block_;
  const std::string architecture_;
  Scenario& scenario_;
  Sizes sizes_;
};

}  // namespace

std::optional<Finding> make_block(const TransformerModel& card, const Gpu& gpu, Scenario& scenario) {
  return Maker(card, gpu, scenario).run();
}

}  // namespace warpfold::configs
