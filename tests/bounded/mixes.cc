#include "tests/bounded/mixes.h"

#include <algorithm>
#include <cmath>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tests/support/enum_of_schema.h"
#include "workloads/workloads.h"

namespace warpfold {
namespace {

configs::Kernel rng(Dice& dice, uint32_t sms, uint64_t warps_per_sub_core) {
  configs::Kernel kernel;
  kernel.set_name("rng");
  kernel.set_stream(1);
  configs::Philox& philox = *kernel.mutable_philox();
  philox.set_heads(1);
  philox.set_rounds(dice.of({3U, 5U, 7U, 10U}));
  philox.set_threshold_bits(dice.of({8U, 16U, 32U}));
  philox.set_threads_per_cta(static_cast<uint32_t>(128 * (warps_per_sub_core >= 4 ? dice.of({1U, 2U, 4U}) : 1U)));
  const uint64_t ctas = 4 * 32 * warps_per_sub_core / philox.threads_per_cta();
  if (dice.between(0, 2) == 0) {
    philox.set_ctas_per_sm(static_cast<uint32_t>(ctas));  // each stays to the end
  } else {
    philox.set_calls_per_thread(dice.between(16, 400));
  }
  philox.set_queries(1024);
  // Some million instructions on each SM: an element takes about 1/20 of one with 8 bits, four times that with 32.
  philox.set_keys(dice.between(24'000, 48'000) * 8 / philox.threshold_bits() * sms * 7 / philox.rounds());
  return kernel;
}

configs::Kernel gemm(Dice& dice, uint32_t sms, const std::string& name) {
  configs::Kernel kernel;
  kernel.set_name(name);
  configs::HopperGemm& gemm = *kernel.mutable_hopper_gemm();
  gemm.set_type(dice.of({configs::FP8, configs::BF16}));
  gemm.set_tile_m(128);
  gemm.set_tile_n(dice.of({64U, 128U}));
  gemm.set_tile_k(gemm.type() == configs::FP8 ? 128 : 64);
  gemm.set_schedule(dice.of({configs::COOPERATIVE, configs::PINGPONG}));
  gemm.set_persistent(gemm.schedule() == configs::PINGPONG || dice.between(0, 1) == 0);
  gemm.set_cluster_m(1);
  gemm.set_cluster_n(1);
  const uint64_t rounds = dice.between(16, 32);
  gemm.set_m(128 * (sms * rounds + (sms > 1 ? dice.between(0, sms - 1) : 0)));
  gemm.set_n(uint64_t{gemm.tile_n()} * dice.between(1, 2));
  gemm.set_k(gemm.tile_k() * dice.between(8, 32));
  return kernel;
}

// One or some more than whole rounds of `sms` SMs.
uint64_t ragged(Dice& dice, uint64_t sms, uint64_t rounds) { return sms * rounds + dice.between(0, sms - 1); }

configs::Kernel short_rng(Dice& dice, uint64_t sms) {
  configs::Kernel kernel;
  configs::Philox& philox = *kernel.mutable_philox();
  philox.set_heads(1);
  philox.set_rounds(dice.of({3U, 5U, 7U, 10U}));
  philox.set_threshold_bits(dice.of({8U, 16U, 32U}));
  philox.set_threads_per_cta(dice.of({64U, 128U, 256U}));
  philox.set_calls_per_thread(dice.of({4U, 8U, 16U, 30U, 64U}));
  // Up to 1.5 million instructions on each SM: a call of a warp is about sixty.
  const uint64_t of_cta = philox.threads_per_cta() / 32 * philox.calls_per_thread() * 60;
  const uint64_t ctas = ragged(dice, sms, dice.between(100'000, 1'500'000) / of_cta + 1);
  philox.set_queries(64);
  philox.set_keys(ctas * philox.threads_per_cta() * philox.calls_per_thread() * (128 / philox.threshold_bits()) / 4096 * 64);
  return kernel;
}

configs::Kernel short_gemm(Dice& dice, uint64_t sms) {
  configs::Kernel kernel = gemm(dice, 1, "");
  configs::HopperGemm& gemm = *kernel.mutable_hopper_gemm();
  gemm.set_m(128 * ragged(dice, sms, dice.between(2, 12)));
  gemm.set_n(gemm.tile_n());
  return kernel;
}

configs::Kernel short_attention(Dice& dice, uint64_t sms) {
  configs::Kernel kernel;
  configs::AttentionShape& shape = *kernel.mutable_flash_attention_2()->mutable_shape();
  shape.set_type(configs::FP16);
  shape.set_batch(1);
  shape.set_queries(dice.of({256U, 384U, 512U, 768U}));
  shape.set_keys(shape.queries());
  shape.set_heads(static_cast<uint32_t>(ragged(dice, sms, dice.between(1, 4)) * 128 / shape.queries() + 1));
  shape.set_head_dim(dice.of({64U, 128U}));
  shape.set_causal(dice.between(0, 3) != 0);
  return kernel;
}

double off(uint64_t value, uint64_t expected, uint64_t whole) {
  return std::abs(static_cast<double>(value) - static_cast<double>(expected)) / std::max(1.0, static_cast<double>(whole));
}

}  // namespace

configs::Gpu machine(Dice& dice, uint32_t sms) {
  configs::Gpu gpu = must(configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/h100_sxm.textproto"));
  const double share = sms / static_cast<double>(gpu.sm_count());
  gpu.set_sm_count(sms);
  gpu.mutable_l2()->set_read_bytes_per_clk(gpu.l2().read_bytes_per_clk() * share);
  gpu.mutable_l2()->set_write_bytes_per_clk(gpu.l2().write_bytes_per_clk() * share);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(gpu.dram().bandwidth_gb_per_s() * share);
  gpu.mutable_sm()->set_registers(196608);
  gpu.mutable_sm()->set_warp_slots(96);
  gpu.mutable_sub_core()->set_warp_slots(24);
  // CTAs start one after the other: the further apart, the more skewed.
  gpu.mutable_sm()->set_cta_launch_cycles(static_cast<uint32_t>(dice.between(3, 400)));
  // Every policy, that of the hardware twice as often. One draw, so that a new policy leaves the rest of a mix as it is.
  std::vector<configs::IssuePolicy> policies = test::values_of<configs::IssuePolicy>();
  policies.push_back(configs::CGGTY);
  gpu.mutable_sub_core()->set_issue_policy(dice.of(policies));
  return gpu;
}

Mix mix(uint32_t seed, uint32_t sms) {
  Dice dice(seed);
  Mix result;
  result.gpu = machine(dice, sms);
  const auto warps = dice.of({uint64_t{1}, uint64_t{4}, uint64_t{8}, uint64_t{16}});
  std::vector<configs::Kernel> kernels{rng(dice, sms, warps)};
  if (dice.between(0, 3) != 0) kernels.push_back(gemm(dice, sms, "gemm"));
  // A second GEMM behind the first, and random numbers that either keep their place, or take the room that the GEMMs leave and give
  // it back.
  const bool chain = kernels.size() > 1 && dice.between(0, 2) == 0;
  if (chain) kernels.push_back(gemm(dice, sms, "next_gemm"));
  const bool keeps_its_place = dice.between(0, 2) != 0;
  result.kind.warps = warps;
  if (kernels.size() > 1) result.kind.gemm = kernels[1].hopper_gemm().persistent() ? Beside::kPersistent : Beside::kCtaAfterCta;
  result.kind.chain = chain;
  result.kernels.reserve(kernels.size());
  for (const configs::Kernel& kernel : kernels) {
    result.kernels.push_back(must(workloads::make_kernel(kernel, result.gpu, "mix")));
    sim::Launch launch;
    launch.kernel = &result.kernels.back();
    launch.stream = static_cast<int>(kernel.stream());
    launch.priority = kernel.name() == "rng" ? 0 : 1;
    // The GEMM has its place; random numbers have `warps` warps a sub-core.
    launch.reserved = kernel.name() == "rng" && kernels.size() > 1 && keeps_its_place;
    if (launch.reserved) launch.reserved_warps = static_cast<uint32_t>(4 * warps);
    result.launches.push_back(launch);
    result.description += kernel.ShortDebugString() + " ";
  }
  result.description += "launch every " + std::to_string(result.gpu.sm().cta_launch_cycles()) + " " +
                        configs::IssuePolicy_Name(result.gpu.sub_core().issue_policy());
  return result;
}

Mix crowd(uint32_t seed) {
  Dice dice(seed);
  Mix result;
  const auto sms = static_cast<uint32_t>(dice.between(2, 6));
  result.gpu = machine(dice, sms);
  const uint64_t count = dice.between(2, 3);
  const bool by_priority = dice.between(0, 2) == 0;
  const bool in_one_stream = count == 3 && dice.between(0, 1) == 0;  // the last two
  const uint64_t bounded = dice.between(0, 2 * count);               // this launch, if there is one
  result.kernels.reserve(count);
  for (uint64_t k = 0; k < count; ++k) {
    configs::Kernel kernel = dice.of({short_rng, short_rng, short_gemm, short_attention})(dice, sms);
    kernel.set_name("k" + std::to_string(k));
    result.kernels.push_back(must(workloads::make_kernel(kernel, result.gpu, "crowd")));
    sim::Launch launch;
    launch.kernel = &result.kernels.back();
    launch.stream = static_cast<int>(in_one_stream && k == 2 ? 1 : k);
    launch.priority = by_priority ? static_cast<int>(dice.between(0, 2)) : 0;
    if (k == bounded && kernel.has_philox()) {
      launch.quota.warps = static_cast<uint32_t>(dice.of({8U, 16U}));
      result.description += "at most " + std::to_string(launch.quota.warps) + " warps of ";
    }
    result.launches.push_back(launch);
    result.description += kernel.ShortDebugString() + " ";
  }
  return result;
}

Errors compare(const sim::Outcome& folded, const sim::Outcome& replayed, std::string& failure) {
  Errors errors;
  for (size_t k = 0; k < replayed.kernels.size(); ++k) {
    const sim::KernelCounters& one = folded.kernels[k];
    const sim::KernelCounters& other = replayed.kernels[k];
    const uint64_t cycles = other.end_cycle - other.start_cycle;
    errors.cycles = std::max(errors.cycles, off(one.end_cycle - one.start_cycle, cycles, cycles));
    if (one.instructions != other.instructions || one.ctas != other.ctas) failure += " work";
    if (one.l2_bytes != other.l2_bytes || one.l2_bytes_served != other.l2_bytes_served) failure += " bytes";
    const auto counter = [&](uint64_t value, uint64_t expected, uint64_t whole) {
      errors.counters = std::max(errors.counters, off(value, expected, whole));
    };
    counter(one.dram_bytes, other.dram_bytes, other.dram_bytes);
    counter(one.resident_warp_cycles, other.resident_warp_cycles, other.resident_warp_cycles);
    for (int s = 0; s < sim::kWarpStates; ++s) counter(one.states[s], other.states[s], other.resident_warp_cycles);
  }
  for (size_t r = 0; r < replayed.resources.size(); ++r)
    errors.counters =
        std::max(errors.counters, off(folded.resources[r].busy, replayed.resources[r].busy, replayed.resources[r].busy));
  return errors;
}

}  // namespace warpfold
