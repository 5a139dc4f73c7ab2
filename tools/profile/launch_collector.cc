#include "tools/profile/launch_collector.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "configs/escape/quoted.h"
#include "tools/profile/missing_operators.h"

namespace warpfold::profile {
namespace {

constexpr double kMostUs = 1e16;  // microseconds since 1970 are 1.8e15

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX)); }
std::array<uint32_t, 3> extents_of(const std::vector<uint64_t>& values) {
  std::array<uint32_t, 3> extents{1, 1, 1};
  for (size_t i = 0; i < std::min<size_t>(values.size(), 3); ++i) extents[i] = narrow(values[i]);
  return extents;
}

// Operators whose numbers say padding, stride and dilation.
bool convolves(std::string_view name) { return name.find("conv") != std::string_view::npos; }

// Operators whose numbers say the axes of a kernel. Numbers of others (a learning rate, a value to fill in) would tell apart
// launches that do the same work.
bool has_axis(std::string_view name) {
  constexpr std::array<std::string_view, 23> kNames{"aten::cat",           "aten::_cat",
                                                    "aten::sum",           "aten::mean",
                                                    "aten::amax",          "aten::amin",
                                                    "aten::max",           "aten::min",
                                                    "aten::prod",          "aten::all",
                                                    "aten::any",           "aten::norm",
                                                    "aten::std",           "aten::var",
                                                    "aten::argmax",        "aten::argmin",
                                                    "aten::var_mean",      "aten::std_mean",
                                                    "aten::nansum",        "aten::logsumexp",
                                                    "aten::index_select",  "aten::linalg_vector_norm",
                                                    "_C::rotary_embedding"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

EventKind event_kind(std::string_view category) {
  if (category == "kernel" || category == "Kernel") return EventKind::kKernel;
  if (category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" || category == "Memset") return EventKind::kCopy;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime") return EventKind::kCall;
  // Kineto also draws these ranges on the GPU's streams (gpu_user_annotation), around the kernels that they launched.
  if (category == "user_annotation") return EventKind::kRange;
  if (category == "cpu_op" || category == "Operator") return EventKind::kOperator;
  return EventKind::kOther;
}

std::string why_invalid(const TraceEvent& event) {
  if (event.name.empty()) return "a kernel without a name";
  return "kernel " + escape::quoted(event.name) + " lacks a start or a duration from 0 to 1e16 us";
}

bool LaunchCollector::add(const TraceEvent& event) {
  if (!event.complete || event.kind == EventKind::kOther) return true;
  const bool timed = std::abs(event.ts) <= kMostUs && event.dur >= 0 && event.dur <= kMostUs;  // false for NaN
  if (event.kind == EventKind::kOperator) {
    const auto op = static_cast<uint32_t>(ops_.size());
    // Traces of 2023 and before have no number of the record function of their own: the External id is that number.
    ops_.push_back({texts_.of({event.name, event.inputs, event.types, event.strides, event.list, event.list_strides,
                               has_axis(event.name) || convolves(event.name) ? event.values : Texts{}}),
                    event.record.value_or(event.external_id.value_or(0))});
    if (event.external_id) operators_.push_back({*event.external_id, op});
    if (timed) spans_.push_back({threads_.of(event.thread), op, event.ts, event.ts + event.dur});
    return true;
  }
  if (event.kind == EventKind::kRange) {
    if (timed && !event.name.empty()) ranges_.push_back({range_names_.of(event.name), event.ts, event.ts + event.dur});
    return true;
  }
  if (event.kind == EventKind::kCall) {
    if (timed && event.correlation) calls_.push_back({*event.correlation, event.ts, threads_.of(event.thread)});
    return true;
  }
  if (!timed || event.name.empty()) return false;
  Raw raw{.launch = {.start_us = event.ts, .us = event.dur},
          .device = narrow(event.device),
          .external_id = event.external_id,
          .correlation = event.correlation};
  raw.launch.stream = narrow(event.stream);
  if (event.kind == EventKind::kKernel) {
    raw.launch.shape = configurations_.of(
        {event.name, extents_of(event.grid), extents_of(event.block), narrow(event.registers), narrow(event.shared_memory)});
  }
  raws_.push_back(raw);
  return true;
}

Profile LaunchCollector::take() {
  Profile profile;
  choose_device(profile);
  std::ranges::sort(operators_);
  join_ranges();
  join_calls();
  std::ranges::stable_sort(raws_, {}, [](const Raw& raw) { return raw.launch.start_us; });
  const bool by_id = ids_are_of_operators();
  std::vector<uint32_t> configurations, texts;  // of each kernel's launch
  Numbers<std::string> names;
  names.of("");
  for (const Raw& raw : raws_) {
    if (raw.device != profile.device) continue;
    Launch& launch = profile.launches.emplace_back(raw.launch);
    if (const Call* call = call_of(raw); call != nullptr) launch.ranges = call->ranges;
    const uint32_t op = operator_of(raw, by_id);
    if (op != kNone) {
      launch.op = names.of(std::get<0>(texts_.value(ops_[op].text)));
      launch.record = ops_[op].record;
    }
    if (raw.launch.shape == Launch::kCopy) continue;
    configurations.push_back(raw.launch.shape);
    texts.push_back(op == kNone ? kNone : ops_[op].text);
  }
  for (uint32_t n = 0; n < names.size(); ++n) profile.operators.push_back(names.value(n));
  for (uint32_t n = 0; n < range_names_.size(); ++n) profile.ranges.push_back(range_names_.value(n));
  profile.range_sets.clear();
  for (uint32_t n = 0; n < range_sets_.size(); ++n) profile.range_sets.push_back(range_sets_.value(n));
  profile.operators_found = find_missing_operators(configurations, kNone, texts);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> shapes;  // index of a shape, by launch configuration and operator
  size_t next = 0;
  for (Launch& launch : profile.launches) {
    if (launch.shape == Launch::kCopy) continue;
    const uint32_t text = texts[next++];
    const auto [found, added] = shapes.try_emplace({launch.shape, text}, static_cast<uint32_t>(profile.shapes.size()));
    if (added) add_shape(launch.shape, text == kNone ? nullptr : &texts_.value(text), profile);
    launch.shape = found->second;
  }
  return profile;
}

void LaunchCollector::join_ranges() {
  range_sets_.of({});
  if (ranges_.empty()) return;
  constexpr size_t kMostOpen = 64;  // names at a time; further ranges within are omitted
  std::ranges::sort(ranges_, {}, &Range::begin);
  std::ranges::sort(calls_, {}, &Call::at);
  std::multimap<double, uint32_t> ends;  // of open ranges
  std::map<uint32_t, uint32_t> open;     // instances of each name
  uint32_t set = 0;
  bool changed = false;
  size_t next = 0;
  for (Call& call : calls_) {
    for (; next < ranges_.size() && ranges_[next].begin <= call.at; ++next) {
      const Range& range = ranges_[next];
      if (range.end < call.at || (open.size() == kMostOpen && !open.contains(range.name))) continue;
      ends.emplace(range.end, range.name);
      changed = ++open[range.name] == 1 || changed;
    }
    while (!ends.empty() && ends.begin()->first < call.at) {
      const auto ended = open.find(ends.begin()->second);
      ends.erase(ends.begin());
      if (--ended->second > 0) continue;
      open.erase(ended);
      changed = true;
    }
    if (changed) {
      std::vector<uint32_t> names;
      for (const auto& [name, instances] : open) names.push_back(name);
      set = range_sets_.of(names);
      changed = false;
    }
    call.ranges = set;
  }
}

void LaunchCollector::join_calls() {
  std::ranges::stable_sort(spans_, [](const Span& one, const Span& other) {
    return std::tuple(one.thread, one.begin, -one.end) < std::tuple(other.thread, other.begin, -other.end);
  });
  std::ranges::stable_sort(calls_, {}, [](const Call& call) { return std::pair(call.thread, call.at); });
  std::vector<const Span*> open;
  size_t next = 0;
  for (Call& call : calls_) {
    for (; next < spans_.size() && std::pair(spans_[next].thread, spans_[next].begin) <= std::pair(call.thread, call.at); ++next) {
      while (!open.empty() && (open.back()->thread != spans_[next].thread || open.back()->end <= spans_[next].begin))
        open.pop_back();
      open.push_back(&spans_[next]);
    }
    while (!open.empty() && (open.back()->thread != call.thread || open.back()->end < call.at)) open.pop_back();
    if (!open.empty()) call.op = open.back()->op;
  }
  std::ranges::stable_sort(calls_, {}, &Call::correlation);
}

bool LaunchCollector::ids_are_of_operators() const {
  return std::ranges::any_of(raws_, [](const Raw& raw) {
    return raw.launch.shape != Launch::kCopy && raw.external_id && raw.external_id != raw.correlation;
  });
}

uint32_t LaunchCollector::operator_of(const Raw& raw, bool ids_are_of_operators) const {
  const auto ops = raw.external_id
                       ? std::ranges::equal_range(operators_, *raw.external_id, {}, &std::pair<uint64_t, uint32_t>::first)
                       : std::ranges::subrange(operators_.end(), operators_.end());
  if (ids_are_of_operators && ops.size() == 1) return ops.front().second;
  const Call* const call = call_of(raw);
  if (call != nullptr && (call->op != kNone || !ids_are_of_operators)) return call->op;
  return ops.empty() ? kNone : ops.front().second;
}

const LaunchCollector::Call* LaunchCollector::call_of(const Raw& raw) const {
  if (!raw.correlation) return nullptr;
  const auto call = std::ranges::lower_bound(calls_, *raw.correlation, {}, &Call::correlation);
  return call != calls_.end() && call->correlation == raw.correlation ? &*call : nullptr;
}

void LaunchCollector::choose_device(Profile& profile) {
  std::map<uint32_t, double> time;
  for (const Raw& raw : raws_) {
    if (raw.launch.shape != Launch::kCopy) time[raw.device] += raw.launch.us;
  }
  if (time.empty()) return;
  profile.device = std::ranges::max_element(time, {}, [](const auto& each) { return each.second; })->first;
  profile.other_devices = static_cast<uint32_t>(time.size() - 1);
  if (const auto found = devices_.find(profile.device); found != devices_.end()) profile.gpu = found->second;
}

void LaunchCollector::add_shape(uint32_t configuration, const OperatorText* text, Profile& profile) const {
  LaunchShape& shape = profile.shapes.emplace_back();
  std::tie(shape.name, shape.grid, shape.block, shape.registers_per_thread, shape.shared_memory_bytes) =
      configurations_.value(configuration);
  if (text == nullptr) return;
  std::tie(shape.op.name, shape.op.inputs, shape.op.types, shape.op.strides, shape.op.list, shape.op.list_strides,
           shape.op.values) = *text;
  profile.shapes_recorded = profile.shapes_recorded || !shape.op.inputs.empty();
}

}  // namespace warpfold::profile
