#include "sim/fold/paths.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

namespace warpfold::sim {
namespace {

// Fields that have been left out of a key may have made another number of words.
bool alike(const Snapshot& one, const Snapshot& other) {
  return one.key == other.key && one.trips.size() == other.trips.size() && one.counts.size() == other.counts.size() &&
         one.moments.size() == other.moments.size();
}

std::vector<const Warp*> warps_of(const SmState& sm) {
  std::vector<const Warp*> warps;
  for (const SubCore& sub_core : sm.sub_cores) {
    for (const Warp& warp : sub_core.warps()) {
      if (warp.resident) warps.push_back(&warp);
    }
  }
  return warps;
}

// A skip leaves a serial to whoever has taken the warp's place in it, but not when it began.
bool same_warp(const Warp& one, const Warp& other) { return one.serial == other.serial && one.started == other.started; }

const Warp* find_warp(const SmState& sm, const Warp& warp) {
  const std::vector<const Warp*> warps = warps_of(sm);
  const auto found = std::ranges::find_if(warps, [&](const Warp* each) { return same_warp(*each, warp); });
  return found == warps.end() ? nullptr : *found;
}

// ---- CTAs

bool same_ctas(const CtaList& one, const CtaList& other) {
  return std::ranges::equal(one, other, [](const traces::CtaRun& a, const traces::CtaRun& b) {
    return a.cta_class == b.cta_class && a.count == b.count;
  });
}

// The CTAs that were placed on the way come next here as well, and as many more are left as make a difference: some or none.
bool places_the_same(const SmState& from, const SmState& to, const SmState& own, int launch) {
  const CtaList& there = to.launches[launch].ctas;
  const CtaList& here = own.launches[launch].ctas;
  const uint64_t placed = to.ctas_placed(launch) - from.ctas_placed(launch);
  if (!same_ctas(part_of(there, from.ctas_placed(launch), placed), part_of(here, own.ctas_placed(launch), placed))) return false;
  return to.ctas_left(launch) == (count_of(here) > own.ctas_placed(launch) + placed);
}

// ---- loops

// What a class bounds is counted down from where a loop begins: a CTA of another class does the same as long as none begins.
bool begins_no_other_loop(const Warp& before, const Warp* after, const std::vector<bool>& parameters) {
  if (before.exited) return true;
  const auto counts = [&](const LoopSpan& loop) { return loop.trips.parameter >= 0 && parameters[loop.trips.parameter]; };
  if (std::ranges::none_of(before.program->loops, counts)) return true;
  if (std::ranges::any_of(before.program->loops, [&](const LoopSpan& loop) { return counts(loop) && loop.depth > 0; }))
    return false;
  if (after == nullptr || after->exited || before.op->depth == 0 || after->op->depth == 0) return false;
  return &before.program->loop_around(*before.op, 0) == &after->program->loop_around(*after->op, 0);
}

// Loops that an instruction has in common with another of the same program, from the outermost on.
size_t common_loops(const Program& program, const MicroOp& one, const MicroOp& other) {
  uint32_t depth = 0;
  while (depth < std::min(one.depth, other.depth) && &program.loop_around(one, depth) == &program.loop_around(other, depth))
    ++depth;
  return depth;
}

constexpr size_t kHeader = 3;  // of a warp in Snapshot::trips

struct TripsOfWarp {
  const Warp* warp;
  std::span<const uint64_t> trips;
};

std::vector<TripsOfWarp> trips_of(const SmState& sm, const Snapshot& state) {
  std::vector<TripsOfWarp> result;
  size_t at = 0;
  for (const Warp* warp : warps_of(sm)) {
    const size_t depth = state.trips[at + 2];
    result.push_back({warp, std::span(state.trips).subspan(at + kHeader, depth)});
    at += kHeader + depth;
  }
  return result;
}

// Fills in what the shortcut says of CTA classes; false where one stands for two.
bool follow_classes(const SmState& own, Shortcut& shortcut) {
  shortcut.class_of.resize(own.launches.size());
  std::set<std::pair<int, uint32_t>> renamed;
  for (size_t c = 0; c < own.ctas.size(); ++c) {
    const Cta& cta = shortcut.from->ctas[c];
    if (!cta.resident) continue;
    const uint32_t owns = own.ctas[c].cta_class;
    if (shortcut.class_of[cta.launch].emplace(cta.cta_class, owns).first->second != owns) return false;
    if (cta.cta_class != owns) renamed.emplace(cta.launch, cta.cta_class);
  }
  // Those that have been placed since are of the same class.
  std::set<int> still_there;
  for (const Warp* warp : warps_of(*shortcut.from)) {
    if (find_warp(*shortcut.to, *warp) != nullptr) still_there.insert(warp->cta);
  }
  for (size_t c = 0; c < own.ctas.size(); ++c) {
    const Cta& cta = shortcut.to->ctas[c];
    if (!cta.resident || still_there.contains(static_cast<int>(c))) continue;
    if (renamed.contains({cta.launch, cta.cta_class})) return false;
    shortcut.class_of[cta.launch].emplace(cta.cta_class, cta.cta_class);
  }
  return true;
}

// Fills in what the shortcut says of trips; false where a loop would have ended elsewhere.
bool follow_loops(const SmState& own, const Snapshot& after, Shortcut& shortcut) {
  const std::vector<TripsOfWarp> there = trips_of(*shortcut.from, *shortcut.state);
  const std::vector<TripsOfWarp> here = trips_of(own, *shortcut.own);
  const std::vector<TripsOfWarp> later = trips_of(*shortcut.to, after);
  std::unordered_map<uint64_t, size_t> begun;  // by serial
  for (size_t w = 0; w < there.size(); ++w) begun.emplace(there[w].warp->serial, w);
  std::vector<bool> stays(there.size(), false);
  for (const TripsOfWarp& each : later) {
    shortcut.trips.insert(shortcut.trips.end(), kHeader, 0);
    const auto known = begun.find(each.warp->serial);
    if (known == begun.end() || !same_warp(*there[known->second].warp, *each.warp)) {
      shortcut.trips.insert(shortcut.trips.end(), each.trips.begin(), each.trips.end());
      continue;
    }
    const TripsOfWarp& before = there[known->second];
    stays[known->second] = true;
    const size_t common = common_loops(*each.warp->program, *before.warp->op, *each.warp->op);
    const auto left = trips_after(before.trips, each.trips, here[known->second].trips, common);
    if (!left) return false;
    shortcut.trips.insert(shortcut.trips.end(), left->begin(), left->end());
  }
  for (size_t w = 0; w < there.size(); ++w) {
    const Warp& warp = *there[w].warp;
    if (!stays[w] && !std::ranges::equal(there[w].trips, here[w].trips)) return false;
    const uint32_t others = shortcut.from->ctas[warp.cta].cta_class;
    const uint32_t owns = own.ctas[warp.cta].cta_class;
    if (others == owns) continue;
    const traces::Kernel& kernel = *own.launches[warp.launch].image->kernel;
    std::vector<bool> differs(kernel.parameters.size());
    for (size_t p = 0; p < differs.size(); ++p)
      differs[p] = kernel.cta_classes[others].values[p] != kernel.cta_classes[owns].values[p];
    if (!begins_no_other_loop(warp, find_warp(*shortcut.to, warp), differs)) return false;
  }
  return true;
}

// Waits that go on: what has been charged on the way began as long ago here; what has not may have begun at any time.
bool follow_moments(const Snapshot& after, Shortcut& shortcut) {
  const Snapshot& before = *shortcut.state;
  const Cycle later = shortcut.own->at - before.at;
  std::unordered_map<uint64_t, size_t> known;
  for (size_t m = 0; m < before.moments.size(); ++m) {
    if (shortcut.own->moments[m] - before.moments[m] != later) known.emplace(before.whose[m], m);
  }
  shortcut.moments.assign(after.moments.size(), later);
  for (size_t m = 0; m < after.moments.size(); ++m) {
    const auto began = known.find(after.whose[m]);
    if (began == known.end()) continue;
    const Cycle then = before.moments[began->second];
    // What was held while it waits is remembered from where the other's wait began.
    const bool wait = after.whose[m] % StateVisitor::kMomentsOfAWarp == 0;
    if (wait || after.moments[m] != then || then >= before.at) continue;
    shortcut.moments[m] = shortcut.own->moments[began->second] - then;
    known.erase(began);
  }
  return known.empty();
}

}  // namespace

std::optional<std::vector<uint64_t>> trips_after(std::span<const uint64_t> before, std::span<const uint64_t> after,
                                                 std::span<const uint64_t> own, size_t common) {
  std::vector<uint64_t> left(after.begin(), after.end());
  bool unmoved = true;  // all loops further out
  for (size_t d = 0; d < before.size(); ++d) {
    if (own[d] != before[d]) {
      if (!unmoved || d >= common || after[d] > before[d] || own[d] <= before[d] - after[d]) return std::nullopt;
      left[d] = after[d] + own[d] - before[d];
    }
    unmoved = unmoved && d < common && after[d] == before[d];
  }
  return left;
}

bool stays_in_loops(const Shortcut& shortcut, int launch, const std::vector<bool>& parameters) {
  if (std::ranges::none_of(parameters, std::identity{})) return true;
  return shortcut.placed[launch] == 0 && std::ranges::all_of(warps_of(*shortcut.from), [&](const Warp* warp) {
           return warp->launch != launch || begins_no_other_loop(*warp, find_warp(*shortcut.to, *warp), parameters);
         });
}

size_t Paths::begin() {
  paths_.push_back({{}, spacing_});
  return first_ + paths_.size() - 1;
}

void Paths::clear() {
  first_ += paths_.size();
  paths_.clear();
  by_hash_.clear();
  copies_ = 0;
  ++cleared_;
}

std::vector<const Snapshot*> Paths::on_path(size_t path, uint64_t hash) const {
  std::vector<const Snapshot*> states;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second.path + first_ == path) states.push_back(&paths_[entry->second.path].points[entry->second.point].state);
  }
  return states;
}

// As much work as the path has copies: of those that have been given up there may be thousands.
void Paths::forget_hashes(size_t path) {
  for (const Waypoint& point : paths_[path].points) {
    const auto [from, to] = by_hash_.equal_range(point.hash);
    by_hash_.erase(std::find_if(from, to, [path](const auto& entry) { return entry.second.path == path; }));
  }
}

void Paths::give_up(size_t path) {
  forget_hashes(path);
  copies_ -= paths_[path].points.size();
  paths_[path].points.clear();
}

bool Paths::wants(size_t path, uint64_t instructions) const {
  if (path < first_) return true;
  const Path& each = paths_[path - first_];
  return each.points.empty() || instructions >= each.points.back().state.instructions + each.spacing;
}

size_t Paths::add(size_t path, const Snapshot& state, uint64_t hash, const Sm& sm) {
  if (path < first_) path = begin();
  std::vector<Waypoint>& points = paths_[path - first_].points;
  if (points.size() == kMost) thin(path - first_);
  for (size_t oldest = 0; copies_ >= kMostOfAll; ++oldest) {
    if (oldest != path - first_) give_up(oldest);
  }
  ++copies_;
  by_hash_.emplace(hash, Place{path - first_, points.size()});
  points.push_back({state, hash, std::make_unique<SmState>(sm.state())});
  return path;
}

void Paths::thin(size_t path) {
  Path& each = paths_[path];
  forget_hashes(path);
  for (size_t i = 0; i < kMost / 2; ++i) each.points[i] = std::move(each.points[2 * i + 1]);
  each.points.resize(kMost / 2);
  copies_ -= kMost / 2;
  for (size_t i = 0; i < each.points.size(); ++i) by_hash_.emplace(each.points[i].hash, Place{path, i});
  each.spacing *= 2;
}

std::optional<Shortcut> Paths::furthest(const Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit) const {
  std::optional<Shortcut> best;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    const std::vector<Waypoint>& points = paths_[entry->second.path].points;
    const Waypoint& from = points[entry->second.point];
    if (!alike(from.state, state)) continue;
    for (size_t to = points.size(); to-- > entry->second.point + 1;) {
      if (best && points[to].state.instructions - from.state.instructions <= best->instructions) break;
      auto found = shortcut(from, points[to], sm, state, limit);
      if (!found) continue;
      best = std::move(found);
      break;
    }
  }
  return best;
}

std::optional<Shortcut> Paths::shortcut(const Waypoint& from, const Waypoint& to, const Sm& sm, const Snapshot& state,
                                        Cycle limit) const {
  Shortcut result{.from = from.checkpoint.get(),
                  .to = to.checkpoint.get(),
                  .state = &from.state,
                  .own = &state,
                  .at = state.at + (to.state.at - from.state.at),
                  .instructions = to.state.instructions - from.state.instructions};
  if (limit != kNever && result.at > limit) return std::nullopt;
  const SmState& own = sm.state();
  for (size_t l = 0; l < own.launches.size(); ++l) {
    const auto launch = static_cast<int>(l);
    // Its end may be waited for.
    if (result.from->launch_done(launch) != result.to->launch_done(launch)) return std::nullopt;
    if (!places_the_same(*result.from, *result.to, own, launch)) return std::nullopt;
    result.placed.push_back(result.to->ctas_placed(launch) - result.from->ctas_placed(launch));
  }
  if (!own.differs_from_alternatives_like(*result.from) || !follow_classes(own, result)) return std::nullopt;
  if (!follow_loops(own, to.state, result) || !follow_moments(to.state, result)) return std::nullopt;
  return result;
}

}  // namespace warpfold::sim
