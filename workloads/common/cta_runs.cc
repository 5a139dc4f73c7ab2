#include "workloads/common/cta_runs.h"

#include <algorithm>

namespace warpfold::workloads {

void add_cta_run(traces::Kernel& kernel, const std::string& name, const std::vector<uint64_t>& values, uint64_t ctas) {
  if (ctas == 0) return;
  const auto known = std::ranges::find(kernel.cta_classes, values, &traces::CtaClass::values);
  const auto index = static_cast<uint32_t>(known - kernel.cta_classes.begin());
  if (known == kernel.cta_classes.end()) kernel.cta_classes.push_back({name, values});
  if (!kernel.grid.empty() && kernel.grid.back().cta_class == index) {
    kernel.grid.back().count += ctas;
  } else {
    kernel.grid.push_back({index, ctas});
  }
}

}  // namespace warpfold::workloads
