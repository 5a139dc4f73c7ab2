#pragma once

#include <map>
#include <string>
#include <utility>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::workloads {

// The rolled program of one kernel of a scenario for a GPU: dispatches to the generators of the kernel families, or reads the trace
// or imports the listing (`scenario_file` is what their paths are relative to). Inconsistent shapes and CTAs that cannot fit fail:
// at the workload, where it is generated.
// A listing's accesses meet the caches, or `room` of them.
Expected<traces::Kernel> make_kernel(const configs::Kernel& kernel, const configs::Gpu& gpu, const std::string& scenario_file,
                                     const CacheRoom& room = {});

// Makes kernels of one scenario and of its variants. Each is made once: a workload for a GPU that has been asked for before, under
// whatever name, is copied.
class KernelMaker {
 public:
  explicit KernelMaker(std::string scenario_file) : file_(std::move(scenario_file)) {}

  const std::string& file() const { return file_; }
  Expected<traces::Kernel> make(const configs::Kernel& kernel, const configs::Gpu& gpu, const CacheRoom& room = {});

 private:
  std::string file_;
  std::map<std::pair<std::string, std::string>, traces::Kernel> made_;  // by workload, and GPU with room, serialized
};

}  // namespace warpfold::workloads
