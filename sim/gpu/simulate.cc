#include "sim/gpu/simulate.h"

#include "configs/gpu.pb.h"
#include "sim/gpu/gpu.h"

namespace warpfold::sim {

Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, bool serialise,
                           std::vector<IssueRecord>* issue_log) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  std::vector<KernelImage> images;
  for (const Launch& launch : launches) {
    auto image = make_image(*spec, *launch.kernel);
    if (!image) return std::unexpected(image.error());
    images.push_back(std::move(*image));
  }
  return GpuRun(*spec, images, launches, serialise, issue_log).run();
}

}  // namespace warpfold::sim
