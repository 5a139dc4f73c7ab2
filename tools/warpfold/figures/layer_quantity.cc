#include "tools/warpfold/figures/layer_quantity.h"

#include <algorithm>

namespace warpfold::cli {

namespace {

bool is_in(const configs::LayerKernel& kernel, const configs::LayerPart& part) {
  const auto has = [](const auto& all, const std::string& one) { return std::ranges::find(all, one) != all.end(); };
  if (part.kind_size() > 0 && !has(part.kind(), kernel.kind())) return false;
  if (part.has_pass() && part.pass() != kernel.pass()) return false;
  return part.operator__size() == 0 ||
         std::ranges::any_of(kernel.operators(), [&](const std::string& each) { return has(part.operator_(), each); });
}

// Returns the FLOP of the model: scores that attention's backward pass computes a second time do not count.
double model_flops(const configs::LayerKernel& kernel) {
  if (kernel.kind() == "contraction") return static_cast<double>(kernel.flops());
  if (kernel.kind() != "attention") return 0;
  return static_cast<double>(kernel.flops()) * (kernel.pass() == "backward" ? 4.0 / 5 : 1);
}

std::optional<double> measured(const configs::LayerQuantity& quantity, const configs::LayerPart& part,
                               const configs::LayerReport& report, const std::string& estimator) {
  double us = 0;
  double words = 0;
  double flops = 0;
  double of_model = 0;
  const auto kernels = kernels_of(report, quantity.version(), part);
  if (kernels.empty()) return std::nullopt;
  for (const configs::LayerKernel* kernel : kernels) {
    const auto time = kernel_us(report, *kernel, estimator);
    if (!time) return std::nullopt;
    us += *time;
    words += static_cast<double>(kernel->input_words() + kernel->output_words());
    flops += static_cast<double>(kernel->flops());
    of_model += model_flops(*kernel);
  }
  switch (quantity.measure()) {
    case configs::LAYER_WORDS_M:
      return estimator == "roofline" ? std::optional(words / 1e6) : std::nullopt;
    case configs::LAYER_GFLOP:
      return estimator == "roofline" ? std::optional(flops / 1e9) : std::nullopt;
    case configs::LAYER_MFU:
      return 100 * of_model / (us * 1e6 * report.tensor_tflops());
    default:
      return us;
  }
}

}  // namespace

std::optional<double> kernel_us(const configs::LayerReport& report, const configs::LayerKernel& kernel,
                                const std::string& estimator) {
  if (estimator == "roofline") return kernel.roofline_us();
  if (report.simulations() == 0) return std::nullopt;
  if (estimator == "simulation") return kernel.time_us();
  return kernel.has_limiter_us() ? kernel.limiter_us() : kernel.roofline_us();
}

std::vector<const configs::LayerKernel*> kernels_of(const configs::LayerReport& report, const std::string& version,
                                                    const configs::LayerPart& part) {
  std::vector<const configs::LayerKernel*> found;
  for (const configs::LayerVersion& each : report.versions()) {
    if (each.name() != (version.empty() ? "unfused" : version)) continue;
    for (const configs::LayerKernel& kernel : each.kernels()) {
      if (is_in(kernel, part)) found.push_back(&kernel);
    }
  }
  return found;
}

std::optional<double> value_of(const configs::LayerQuantity& quantity, const configs::LayerReport& report,
                               const std::string& estimator) {
  const auto of = measured(quantity, quantity.of(), report, estimator);
  if (!quantity.has_over() || !of) return of;
  const auto over = measured(quantity, quantity.over(), report, estimator);
  return over && *over > 0 ? std::optional(*of / *over) : std::nullopt;
}

}  // namespace warpfold::cli
