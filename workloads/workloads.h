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

// Returns the rolled program of one kernel of a scenario, made for `gpu`: calls the generator of its kernel family, reads its
// trace, or imports its listing. Paths of traces and listings are relative to `scenario_file`. Inconsistent shapes and CTAs that do
// not fit an SM are errors, reported at the field of the workload. The accesses of a listing meet the whole caches, or only `room`
// of them.
Expected<traces::Kernel> make_kernel(const configs::Kernel& kernel, const configs::Gpu& gpu, const std::string& scenario_file,
                                     const CacheRoom& room = {});

// Makes the kernels of one scenario and of its variants. Each pair of workload and GPU is generated once; later requests, under any
// kernel name, get a copy.
class KernelMaker {
 public:
  explicit KernelMaker(std::string scenario_file) : file_(std::move(scenario_file)) {}

  const std::string& file() const { return file_; }
  Expected<traces::Kernel> make(const configs::Kernel& kernel, const configs::Gpu& gpu, const CacheRoom& room = {});

 private:
  std::string file_;
  std::map<std::pair<std::string, std::string>, traces::Kernel> made_;  // key: serialized workload, and serialized GPU with room
};

}  // namespace warpfold::workloads
