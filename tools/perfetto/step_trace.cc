#include "tools/perfetto/step_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tools/perfetto/trace_writer.h"

namespace warpfold::perfetto {
namespace {

constexpr size_t kMostLaunches = 100'000;
constexpr double kNsOfUs = 1000;
constexpr double kNsClockMhz = 1000;  // one cycle per nanosecond

// A timeline's group of tracks. Overlapping launches of one stream get further tracks.
class Timeline {
 public:
  Timeline(const std::string& name, const std::string& description, int pid, TraceWriter& writer)
      : writer_(writer), process_(writer.add_process(pid, name, description)) {}

  void add(uint32_t stream, double start_us, double us, const std::string& name, std::vector<Argument> arguments) {
    const uint64_t from = ns(start_us), to = std::max(from, ns(start_us + us));
    arguments.push_back({"us", us});
    writer_.slice(track(stream, from, to), from, to, name, std::move(arguments));
  }

 private:
  struct Lane {
    Track track;
    uint64_t free;
  };

  static uint64_t ns(double us) { return static_cast<uint64_t>(std::llround(std::max(0.0, us) * kNsOfUs)); }

  Track track(uint32_t stream, uint64_t from, uint64_t to) {
    std::vector<Lane>& lanes = streams_[stream];
    auto lane = std::ranges::find_if(lanes, [&](const Lane& each) { return each.free <= from; });
    if (lane == lanes.end()) {
      const std::string name = "stream " + std::to_string(stream) + (lanes.empty() ? "" : ", overlapping");
      lane = lanes.insert(lanes.end(), {writer_.add_track(process_, name), 0});
    }
    lane->free = to;
    return lane->track;
  }

  TraceWriter& writer_;
  Track process_;
  std::map<uint32_t, std::vector<Lane>> streams_;
};

}  // namespace

std::string step_trace(const StepTrace& step) {
  const size_t shown = std::min(step.launches.size(), kMostLaunches);
  const std::string part = shown == step.launches.size() ? ""
                                                         : ", the first " + std::to_string(shown) + " of " +
                                                               std::to_string(step.launches.size()) + " launches and copies";
  TraceWriter writer{Clock(kNsClockMhz)};
  Timeline measured("measured" + part, step.description, 1, writer);
  Timeline simulated("simulated on " + step.gpu + part, step.description, 2, writer);
  const StepKernel copy{"copy", "", ""};
  for (size_t l = 0; l < shown; ++l) {
    const StepLaunch& launch = step.launches[l];
    const StepKernel& kernel = launch.kernel == StepLaunch::kCopy ? copy : step.kernels[launch.kernel];
    measured.add(launch.stream, launch.measured_start_us, launch.measured_us, kernel.name, {{"launch", uint64_t{l + 1}}});
  }
  // Slices of a track must be in order of their begins. Simulated times may change the order of launches, so sort again.
  std::vector<size_t> order(shown);
  for (size_t l = 0; l < shown; ++l) order[l] = l;
  std::ranges::stable_sort(order, {}, [&](size_t l) { return step.launches[l].simulated_start_us; });
  for (const size_t l : order) {
    const StepLaunch& launch = step.launches[l];
    const StepKernel& kernel = launch.kernel == StepLaunch::kCopy ? copy : step.kernels[launch.kernel];
    std::vector<Argument> arguments{{"launch", uint64_t{l + 1}}, {"measured_us", launch.measured_us}};
    if (!kernel.bound_by.empty()) arguments.push_back({"bound_by", kernel.bound_by});
    if (!kernel.opaque.empty()) arguments.push_back({"as_measured", kernel.opaque});
    simulated.add(launch.stream, launch.simulated_start_us, launch.simulated_us, kernel.name, std::move(arguments));
  }
  return writer.finish();
}

}  // namespace warpfold::perfetto
