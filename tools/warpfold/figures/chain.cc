#include "tools/warpfold/figures/chain.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "workloads/policies/plan.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

namespace {

configs::AttentionShape* shape_of(configs::Kernel& kernel) {
  if (kernel.has_flash_attention_2()) return kernel.mutable_flash_attention_2()->mutable_shape();
  if (kernel.has_flash_attention_4()) return kernel.mutable_flash_attention_4()->mutable_shape();
  return kernel.mutable_flash_attention_3()->mutable_shape();
}

bool has_dropout(configs::Kernel kernel) { return shape_of(kernel)->dropout() != configs::NONE; }

Diagnostic in_file(Diagnostic diagnostic, const std::string& file) {
  if (diagnostic.file.empty()) diagnostic.file = file;
  return diagnostic;
}

class ChainCounter {
 public:
  ChainCounter(const configs::Scenario& scenario, const std::string& file, bool published)
      : gpu_(scenario.gpu()), file_(file), published_(published) {
    chain_.has_rng =
        std::ranges::any_of(scenario.kernel(), [](const configs::Kernel& kernel) { return kind_of(kernel) == KernelKind::kRng; });
  }

  Expected<void> add(const configs::Kernel& kernel) {
    auto program = workloads::make_kernel(kernel, gpu_, file_);
    if (!program) return std::unexpected(program.error());
    const auto limiters = sim::limiters_of(gpu_, *program);
    if (!limiters) return std::unexpected(in_file(limiters.error(), file_));
    chain_.limiters.push_back(*limiters);
    chain_.work.push_back(tensor_work(*program));
    programs_.push_back(std::move(*program));
    switch (kind_of(kernel)) {
      case KernelKind::kGemm:
        chain_.times.gemm += limiters->cycles();
        chain_.has_gemm = true;
        return {};
      case KernelKind::kRng:
        chain_.times.rng += limiters->cycles();
        merge(*limiters);
        return {};
      case KernelKind::kAttention:
        chain_.has_attention = true;
        if (chain_.has_rng && has_dropout(kernel)) return add_dropping_attention(kernel);
        chain_.times.attention += limiters->cycles();
        dropping_ += limiters->cycles();
        merge(*limiters);
        return {};
      case KernelKind::kOther:
        chain_.times.others += limiters->cycles();
        return {};
    }
    throw std::logic_error("a kind of kernel without a place in the chain");
  }

  Expected<Chain> take() {
    std::vector<const traces::Kernel*> all;
    for (const traces::Kernel& program : programs_) all.push_back(&program);
    const auto any_policy = sim::limiters_of_any_policy(gpu_, all);
    if (!any_policy) return std::unexpected(in_file(any_policy.error(), file_));
    chain_.any_policy = *any_policy;
    if (merged_) chain_.times.merged = merged_->cycles();
    if (dropping_ > 0) chain_.dropping = dropping_ / chain_.times.attention;
    return std::move(chain_);
  }

 private:
  Expected<void> add_dropping_attention(const configs::Kernel& kernel) {
    const auto plain = count_with(kernel, configs::NONE);
    if (!plain) return std::unexpected(plain.error());
    chain_.times.attention += plain->cycles();
    if (published_) return {};
    const auto dropping = count_with(kernel, configs::STORED_BITS);
    if (!dropping) return std::unexpected(dropping.error());
    dropping_ += dropping->cycles();
    merge(*dropping);
    return {};
  }

  Expected<sim::Limiters> count_with(configs::Kernel kernel, configs::Dropout dropout) const {
    shape_of(kernel)->set_dropout(dropout);
    const auto program = workloads::make_kernel(kernel, gpu_, file_);
    if (!program) return std::unexpected(program.error());
    auto limiters = sim::limiters_of(gpu_, *program);
    if (!limiters) return std::unexpected(in_file(limiters.error(), file_));
    return std::move(*limiters);
  }

  // Merges the limiters of kernels that share one instruction stream, as attention does that generates its random numbers itself.
  void merge(const sim::Limiters& limiters) { merged_ = merged_ ? sim::merged(*merged_, limiters) : limiters; }

  const configs::Gpu& gpu_;
  const std::string& file_;
  bool published_;
  Chain chain_;
  std::vector<traces::Kernel> programs_;
  std::optional<sim::Limiters> merged_;
  double dropping_ = 0;  // cycles of attention with stored bits
};

double overlap(const configs::KernelResult& one, const configs::KernelResult& other) {
  const uint64_t from = std::max(one.start_cycle(), other.start_cycle());
  const uint64_t to = std::min(one.end_cycle(), other.end_cycle());
  return to > from ? static_cast<double>(to - from) : 0;
}

// Policies under which each kernel is a launch of its own and runs beside other kernels.
bool keeps_launches_apart(configs::PolicyKind policy) {
  return policy == configs::CONCURRENT || policy == configs::CARVE_OUT || policy == configs::SM_PARTITION ||
         policy == configs::PRIORITY || policy == configs::SLICED;
}

}  // namespace

KernelKind kind_of(const configs::Kernel& kernel) {
  if (kernel.has_hopper_gemm() || kernel.has_blackwell_gemm() || kernel.has_ampere_gemm()) return KernelKind::kGemm;
  if (kernel.has_philox()) return KernelKind::kRng;
  const bool forward = (kernel.has_flash_attention_3() && kernel.flash_attention_3().pass() == configs::FORWARD) ||
                       (kernel.has_flash_attention_4() && kernel.flash_attention_4().pass() == configs::FORWARD) ||
                       (kernel.has_flash_attention_2() && kernel.flash_attention_2().pass() == configs::FORWARD);
  return forward ? KernelKind::kAttention : KernelKind::kOther;
}

Expected<Chain> make_chain(const configs::Scenario& scenario, const std::string& file, bool published) {
  ChainCounter counter(scenario, file, published);
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    const auto counted = counter.add(scenario.kernel(k));
    if (!counted) return std::unexpected(counted.error().inside(policies::path_of_kernel(k)));
  }
  return counter.take();
}

configs::Scenario pair_of(const configs::Scenario& scenario) {
  configs::Scenario pair = scenario;
  pair.clear_kernel();
  const auto kept = [&scenario](const std::string& name) {
    const auto kernel = std::ranges::find(scenario.kernel(), name, &configs::Kernel::name);
    if (kernel == scenario.kernel().end()) return false;
    return kind_of(*kernel) == KernelKind::kGemm || kind_of(*kernel) == KernelKind::kRng;
  };
  for (const configs::Kernel& kernel : scenario.kernel()) {
    if (!kept(kernel.name())) continue;
    configs::Kernel& copy = *pair.add_kernel() = kernel;
    copy.clear_after();
    for (const std::string& name : kernel.after()) {
      if (kept(name)) copy.add_after(name);
    }
  }
  configs::Policy& policy = *pair.mutable_policy();
  policy.clear_reserve();
  for (const configs::Reservation& reservation : scenario.policy().reserve()) {
    if (kept(reservation.kernel())) *policy.add_reserve() = reservation;
  }
  if (!keeps_launches_apart(policy.kind())) policy.set_kind(configs::CONCURRENT);
  return pair;
}

// A GEMM's slowdown covers its whole time. Random numbers that outlast the GEMMs run at full speed after them, so that part is
// subtracted.
sim::Interference measured_interference(const configs::Scenario& scenario, const configs::Result& simulated) {
  double gemm = 0, gemm_alone = 0, rng_beside = 0, rng_alone = 0;
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    const configs::KernelResult& kernel = simulated.kernels(k);
    if (kind_of(scenario.kernel(k)) == KernelKind::kGemm) {
      gemm += static_cast<double>(kernel.cycles());
      gemm_alone += static_cast<double>(kernel.solo_cycles());
      continue;
    }
    if (kind_of(scenario.kernel(k)) != KernelKind::kRng) continue;
    double beside = 0;
    for (int other = 0; other < scenario.kernel_size(); ++other) {
      if (kind_of(scenario.kernel(other)) == KernelKind::kGemm) beside += overlap(kernel, simulated.kernels(other));
    }
    rng_beside += beside;
    rng_alone += static_cast<double>(kernel.solo_cycles()) - (static_cast<double>(kernel.cycles()) - beside);
  }
  sim::Interference interference{.source = "simulated"};
  if (gemm_alone > 0) interference.gemm_slowdown = gemm / gemm_alone;
  if (rng_beside > 0 && rng_alone > 0) interference.rng_slowdown = rng_beside / rng_alone;
  return interference;
}

std::vector<sim::Composition> compositions_of(const Chain& chain, const sim::Interference& interference) {
  std::vector<sim::Composition> compositions{sim::sequential(chain.times, interference)};
  if (chain.has_rng && chain.has_attention) compositions.push_back(sim::fused(chain.times, interference));
  if (chain.has_rng && chain.has_gemm) compositions.push_back(sim::overlapped(chain.times, interference));
  return compositions;
}

}  // namespace warpfold::cli
