#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::perfetto {

// A launch of a profiled step, in microseconds from its first one on.
struct StepLaunch {
  static constexpr uint32_t kCopy = UINT32_MAX;
  uint32_t kernel = kCopy;  // of StepTrace::kernels; a memcpy or memset has none
  uint32_t stream = 0;
  double measured_start_us = 0;
  double measured_us = 0;
  double simulated_start_us = 0;
  double simulated_us = 0;  // as measured, of a kernel that is not simulated
};

struct StepKernel {
  std::string name;
  std::string bound_by;  // empty: not simulated
  std::string opaque;    // why
};

struct StepTrace {
  std::string description;
  std::string gpu;  // simulated
  std::vector<StepKernel> kernels;
  std::vector<StepLaunch> launches;  // in the order of their measured starts
};

// The first launches of a step as a trace for ui.perfetto.dev: as measured, and below it as simulated (tools/profile/replay.h).
//
//   measured            a track for each stream, and a second one where launches of one stream overlap
//   simulated           the same tracks; a kernel that is not simulated takes its measured time and says why
//
// A launch takes some 2,300 bytes of memory while the trace is written: of a step with more than 100,000 the first are shown, which
// the names of both groups say.
std::string step_trace(const StepTrace& step);

}  // namespace warpfold::perfetto
