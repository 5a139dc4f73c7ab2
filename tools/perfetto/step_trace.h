#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::perfetto {

// A launch of a profiled step, in microseconds relative to the first launch.
struct StepLaunch {
  static constexpr uint32_t kCopy = UINT32_MAX;
  uint32_t kernel = kCopy;  // index in StepTrace::kernels; a memcpy or memset has none
  uint32_t stream = 0;
  double measured_start_us = 0;
  double measured_us = 0;
  double simulated_start_us = 0;
  double simulated_us = 0;  // the measured time if the kernel is not simulated
};

struct StepKernel {
  std::string name;
  std::string bound_by;  // empty: not simulated
  std::string opaque;    // the reason if not simulated
};

struct StepTrace {
  std::string description;
  std::string gpu;  // the simulated GPU
  std::vector<StepKernel> kernels;
  std::vector<StepLaunch> launches;  // in order of their measured starts
};

// Returns the first launches of a step as a trace for ui.perfetto.dev: as measured and, below, as simulated
// (tools/profile/replay.h).
//
//   measured            a track for each stream, and a second one where launches of one stream overlap
//   simulated           the same tracks; a kernel that is not simulated takes its measured time and gives the reason
//
// A launch takes some 2,300 bytes of memory while the trace is written. Of a step with more than 100,000 launches, only the first
// 100,000 are shown, and the names of both groups say so.
std::string step_trace(const StepTrace& step);

}  // namespace warpfold::perfetto
