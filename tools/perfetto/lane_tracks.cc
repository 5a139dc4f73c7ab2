#include "tools/perfetto/lane_tracks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace warpfold::perfetto {
namespace {

double percent_of(const configs::UseWindow& window, int lane, double capacity_per_cycle) {
  const double most = capacity_per_cycle * static_cast<double>(window.end_cycle() - window.start_cycle());
  return 100.0 * static_cast<double>(window.busy(lane)) / most;
}

// Rounds to tens of percent, so that slices with similar use have the same name and therefore the same colour.
std::string slice_name(const configs::UseWindow& window, double percent) {
  constexpr int kStep = 10;
  const int low = static_cast<int>(std::min(percent, 99.0)) / kStep * kStep;
  std::string name = std::to_string(low) + "-" + std::to_string(low + kStep) + " %";
  if (window.folded_cycles() == 0) return name;
  const bool whole = window.folded_cycles() >= window.end_cycle() - window.start_cycle();
  return name.append(whole ? ", folded" : ", partly folded");
}

void write_slices(const configs::SmTimeline& sm, int lane, double capacity_per_cycle, Track track, TraceWriter& writer) {
  for (const configs::UseWindow& window : sm.windows()) {
    if (window.busy(lane) == 0) continue;
    const double percent = percent_of(window, lane, capacity_per_cycle);
    std::vector<Argument> arguments{{"start_cycle", window.start_cycle()},
                                    {"cycles", window.end_cycle() - window.start_cycle()},
                                    {"busy", window.busy(lane)},
                                    {"percent", percent}};
    if (window.folded_cycles() > 0) arguments.push_back({"folded_cycles", window.folded_cycles()});
    writer.slice(track, window.start_cycle(), window.end_cycle(), slice_name(window, percent), std::move(arguments));
  }
}

void write_counter(const configs::SmTimeline& sm, int lane, double capacity_per_cycle, Track track, TraceWriter& writer) {
  double last = -1;
  for (const configs::UseWindow& window : sm.windows()) {
    const double percent = percent_of(window, lane, capacity_per_cycle);
    if (percent != last) writer.count(track, window.start_cycle(), percent);
    last = percent;
  }
  writer.count(track, sm.end_cycle(), 0);
}

bool used(const configs::SmTimeline& sm, int lane) {
  return std::ranges::any_of(sm.windows(), [lane](const auto& window) { return window.busy(lane) > 0; });
}

}  // namespace

void write_lanes(const configs::Timeline& timeline, const configs::SmTimeline& sm, Track sm_track, TraceWriter& writer) {
  std::map<int, Track> groups;  // by sub-core; -1: units of the SM
  for (int lane = 0; lane < timeline.lanes_size(); ++lane) {
    const configs::TimelineLane& about = timeline.lanes(lane);
    if (!used(sm, lane)) continue;
    const int where = about.has_sub_core() ? static_cast<int>(about.sub_core()) : -1;
    auto group = groups.find(where);
    if (group == groups.end()) {
      const std::string name = where < 0 ? "SM" : "sub-core " + std::to_string(where);
      group = groups.emplace(where, writer.add_track(sm_track, name)).first;
    }
    const Track track = writer.add_track(group->second, about.resource());
    write_slices(sm, lane, about.capacity_per_cycle(), track, writer);
    std::string counter = "use of ";
    write_counter(sm, lane, about.capacity_per_cycle(), writer.add_counter(track, counter.append(about.resource()), "%"), writer);
  }
}

}  // namespace warpfold::perfetto
