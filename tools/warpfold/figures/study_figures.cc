#include "tools/warpfold/figures/study_figures.h"

#include <algorithm>

#include "tools/warpfold/figures/layer_quantity.h"

namespace warpfold::cli {

namespace {

const configs::StudyRun* find_run(const configs::StudyPoint& point, configs::PolicyKind policy, const std::string& estimator) {
  for (const configs::StudyRun& run : point.run()) {
    if (run.policy() == configs::PolicyKind_Name(policy) && run.estimator() == estimator) return &run;
  }
  return nullptr;
}

const configs::StudyKernel* find_kernel(const configs::StudyPoint& point, const configs::Quantity::KernelOf& which,
                                        const std::string& estimator) {
  const configs::StudyRun* run = find_run(point, which.policy(), estimator);
  if (run == nullptr) return nullptr;
  const auto found = std::ranges::find(run->kernel(), which.kernel(), [](const auto& kernel) { return kernel.name(); });
  return found == run->kernel().end() ? nullptr : &*found;
}

}  // namespace

const configs::Quantity::KernelOf* kernel_of(const configs::Quantity& quantity) {
  if (quantity.has_kernel_time()) return &quantity.kernel_time();
  if (quantity.has_kernel_alone()) return &quantity.kernel_alone();
  return quantity.has_kernel_slowdown() ? &quantity.kernel_slowdown() : nullptr;
}

std::optional<double> value_of(const configs::Quantity& quantity, const configs::StudyPoint& point, const std::string& estimator) {
  const configs::StudyKernel* kernel = nullptr;
  switch (quantity.what_case()) {
    case configs::Quantity::kSpeedup: {
      const configs::StudyRun* of = find_run(point, quantity.speedup().of(), estimator);
      const configs::StudyRun* over = find_run(point, quantity.speedup().over(), estimator);
      if (of == nullptr || over == nullptr || of->total_time_us() <= 0) return std::nullopt;
      return over->total_time_us() / of->total_time_us();
    }
    case configs::Quantity::kTotalTime:
      if (const configs::StudyRun* run = find_run(point, quantity.total_time(), estimator)) return run->total_time_us();
      return std::nullopt;
    case configs::Quantity::kKernelTime:
      kernel = find_kernel(point, quantity.kernel_time(), estimator);
      return kernel == nullptr || kernel->time_us() <= 0 ? std::nullopt : std::optional(kernel->time_us());
    case configs::Quantity::kKernelAlone:
      kernel = find_kernel(point, quantity.kernel_alone(), estimator);
      return kernel == nullptr ? std::nullopt : std::optional(kernel->alone_us());
    case configs::Quantity::kKernelSlowdown:
      kernel = find_kernel(point, quantity.kernel_slowdown(), estimator);
      return kernel == nullptr || kernel->slowdown() <= 0 ? std::nullopt : std::optional(kernel->slowdown());
    case configs::Quantity::kStoredBitsMb:
      if (const configs::StudyRun* run = find_run(point, quantity.stored_bits_mb(), estimator)) {
        if (run->stored_bits_bytes() > 0) return static_cast<double>(run->stored_bits_bytes()) / 1e6;
      }
      return std::nullopt;
    case configs::Quantity::kEnergyJ:
      if (const configs::StudyRun* run = find_run(point, quantity.energy_j(), estimator)) {
        if (run->has_energy_j()) return run->energy_j();
      }
      return std::nullopt;
    case configs::Quantity::kRegion:
      for (const configs::StudyRegion& region : point.region()) {
        if (region.estimator() == estimator) return region.region();
      }
      return std::nullopt;
    case configs::Quantity::kLayer:
      return value_of(quantity.layer(), point.layer(), estimator);
    case configs::Quantity::WHAT_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace warpfold::cli
