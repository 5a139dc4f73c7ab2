#include "tools/warpfold/run/kernels.h"

#include "tools/warpfold/run/file_kind.h"
#include "traces/trace_file.h"
#include "workloads/policies/plan.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

Outcome<std::vector<traces::Kernel>> scenario_kernels(const configs::Scenario& scenario, const std::string& file,
                                                      const configs::Places& places) {
  std::vector<traces::Kernel> kernels;
  for (const configs::Kernel& description : scenario.kernel()) {
    auto kernel = workloads::make_kernel(description, scenario.gpu(), file);
    const std::string path = policies::path_of_kernel(static_cast<int>(kernels.size()));
    if (!kernel) return std::unexpected(Failure(places.located(kernel.error().inside(path))));
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

Outcome<std::vector<traces::Kernel>> file_kernels(const std::string& path, std::vector<traces::TextPlaces>* places) {
  if (const auto file = find_of_kind(path, FileKind::kTrace, "trace"); !file) return std::unexpected(file.error());
  auto kernels = traces::read_trace(path, places);
  if (!kernels) return std::unexpected(Failure(kernels.error()));
  return std::move(*kernels);
}

}  // namespace warpfold::cli
