#include "tools/warpfold/run/profile_families.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tools/validation/statistics.h"

namespace warpfold::cli {

std::string family_of(const configs::ProfiledKernel& kernel) { return kernel.family().empty() ? "unknown" : kernel.family(); }

void for_each_launch(const ProfiledStep& step, const std::function<void(uint32_t, double, bool)>& visit) {
  for (size_t l = 0; l < step.profile.launches.size(); ++l) {
    const profile::Launch& launch = step.profile.launches[l];
    if (launch.shape == profile::Launch::kCopy) continue;
    const uint32_t kernel = step.kernel_of_shape[launch.shape];
    const bool simulated = step.report.kernels(static_cast<int>(kernel)).simulated_us() > 0;
    visit(kernel, launch.us, simulated && step.same_gpu && !step.beside[l] && launch.us > 0);
  }
}

void add_families(ProfiledStep& step) {
  struct Family {
    double us = 0;
    double simulated_us = 0;
    std::vector<double> errors{};
  };
  std::map<std::string, Family> families;
  for_each_launch(step, [&](uint32_t kernel, double us, bool comparable) {
    const configs::ProfiledKernel& said = step.report.kernels(static_cast<int>(kernel));
    for (const std::string& each : {family_of(said), std::string("all")}) {
      Family& family = families[each];
      family.us += us;
      if (said.simulated_us() > 0) family.simulated_us += us;
      if (comparable && us >= kJudgedUs) family.errors.push_back(said.simulated_us() / us - 1);
    }
  });
  std::vector<std::pair<std::string, Family>> ordered(families.begin(), families.end());
  std::ranges::stable_sort(ordered, std::greater(), [](const auto& each) { return each.second.us; });
  for (const auto& [name, family] : ordered) {
    configs::ProfiledFamily& said = *step.report.add_families();
    said.set_family(name);
    said.set_measured_us(family.us);
    said.set_simulated_share(family.us > 0 ? family.simulated_us / family.us : 0);
    const validation::Errors errors = validation::errors_of(family.errors);
    said.set_launches(errors.count);
    said.set_mean_error(errors.mean);
    said.set_median_error(errors.median);
    said.set_bias(errors.bias);
  }
}

}  // namespace warpfold::cli
