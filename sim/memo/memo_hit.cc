#include "sim/memo/memo_hit.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

namespace warpfold::sim {
namespace {

std::vector<const Warp*> warps_of(const SmState& sm) {
  std::vector<const Warp*> warps;
  for (const SubCore& sub_core : sm.sub_cores) {
    for (const Warp& warp : sub_core.warps()) {
      if (warp.resident) warps.push_back(&warp);
    }
  }
  return warps;
}

// A fast-forward leaves a serial to the warp that has taken the place meanwhile, but not the cycle in which it began.
bool same_warp(const Warp& one, const Warp& other) { return one.serial == other.serial && one.started == other.started; }

const Warp* find_warp(const SmState& sm, const Warp& warp) {
  const std::vector<const Warp*> warps = warps_of(sm);
  const auto found = std::ranges::find_if(warps, [&](const Warp* each) { return same_warp(*each, warp); });
  return found == warps.end() ? nullptr : *found;
}

// ---- CTAs

// The CTAs that were placed on the trajectory come next on this SM as well, and after them both have some left or none.
bool places_the_same(const SmState& from, const SmState& to, const SmState& own, int launch) {
  const CtaList& there = to.launches[launch].ctas;
  const CtaList& here = own.launches[launch].ctas;
  const uint64_t placed = to.ctas_placed(launch) - from.ctas_placed(launch);
  if (part_of(there, from.ctas_placed(launch), placed) != part_of(here, own.ctas_placed(launch), placed)) return false;
  return to.listed(launch) == (count_of(here) > own.ctas_placed(launch) + placed);
}

// ---- loops

// Trips that a class bounds are counted down from where a loop begins: a CTA of another class does the same as long as no such loop
// begins.
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

struct TripsOfWarp {
  const Warp* warp;
  std::span<const uint64_t> trips;
};

std::vector<TripsOfWarp> trips_of(const SmState& sm, const Snapshot& state) {
  std::vector<TripsOfWarp> result;
  const std::vector<const Warp*> warps = warps_of(sm);
  for (size_t w = 0; w < warps.size(); ++w) result.push_back({warps[w], state.trips.of(state.trips.warps[w])});
  return result;
}

// Fills in what the hit says of CTA classes; false where one class would be two.
bool match_classes(const SmState& own, MemoHit& hit) {
  hit.class_of.resize(own.launches.size());
  std::set<std::pair<int, uint32_t>> renamed;
  for (size_t c = 0; c < own.ctas.size(); ++c) {
    const Cta& cta = hit.from->ctas[c];
    if (!cta.resident) continue;
    const uint32_t owns = own.ctas[c].cta_class;
    if (hit.class_of[cta.launch].emplace(cta.cta_class, owns).first->second != owns) return false;
    if (cta.cta_class != owns) renamed.emplace(cta.launch, cta.cta_class);
  }
  // Those that have been placed since are of the same class.
  std::set<int> still_there;
  for (const Warp* warp : warps_of(*hit.from)) {
    if (find_warp(*hit.to, *warp) != nullptr) still_there.insert(warp->cta);
  }
  for (size_t c = 0; c < own.ctas.size(); ++c) {
    const Cta& cta = hit.to->ctas[c];
    if (!cta.resident || still_there.contains(static_cast<int>(c))) continue;
    if (renamed.contains({cta.launch, cta.cta_class})) return false;
    hit.class_of[cta.launch].emplace(cta.cta_class, cta.cta_class);
  }
  return true;
}

// Fills in what the hit says of trips; false where a loop test would have had another answer.
bool match_loops(const SmState& own, const Snapshot& after, MemoHit& hit) {
  const std::vector<TripsOfWarp> there = trips_of(*hit.from, *hit.state);
  const std::vector<TripsOfWarp> here = trips_of(own, *hit.own);
  const std::vector<TripsOfWarp> later = trips_of(*hit.to, after);
  std::unordered_map<uint64_t, size_t> begun;  // by serial
  for (size_t w = 0; w < there.size(); ++w) begun.emplace(there[w].warp->serial, w);
  std::vector<bool> stays(there.size(), false);
  for (const TripsOfWarp& each : later) {
    const auto known = begun.find(each.warp->serial);
    if (known == begun.end() || !same_warp(*there[known->second].warp, *each.warp)) {
      hit.trips.insert(hit.trips.end(), each.trips.begin(), each.trips.end());
      continue;
    }
    const TripsOfWarp& before = there[known->second];
    stays[known->second] = true;
    const size_t common = common_loops(*each.warp->program, *before.warp->op, *each.warp->op);
    const auto left = trips_after(before.trips, each.trips, here[known->second].trips, common);
    if (!left) return false;
    hit.trips.insert(hit.trips.end(), left->begin(), left->end());
  }
  for (size_t w = 0; w < there.size(); ++w) {
    const Warp& warp = *there[w].warp;
    if (!stays[w] && !std::ranges::equal(there[w].trips, here[w].trips)) return false;
    const uint32_t others = hit.from->ctas[warp.cta].cta_class;
    const uint32_t owns = own.ctas[warp.cta].cta_class;
    if (others == owns) continue;
    const traces::Kernel& kernel = *own.launches[warp.launch].image->kernel;
    std::vector<bool> differs(kernel.parameters.size());
    for (size_t p = 0; p < differs.size(); ++p)
      differs[p] = kernel.cta_classes[others].values[p] != kernel.cta_classes[owns].values[p];
    if (!begins_no_other_loop(warp, find_warp(*hit.to, warp), differs)) return false;
  }
  return true;
}

// Waits that go on: a wait that was charged on the trajectory must have begun as long ago here; any other may have begun any time.
bool match_waits(const Snapshot& after, MemoHit& hit) {
  const Snapshot& before = *hit.state;
  const Cycle later = hit.own->at - before.at;
  std::unordered_map<uint64_t, size_t> known;
  for (size_t m = 0; m < before.moments.size(); ++m) {
    if (hit.own->moments[m] - before.moments[m] != later) known.emplace(before.whose[m], m);
  }
  hit.moments.assign(after.moments.size(), later);
  for (size_t m = 0; m < after.moments.size(); ++m) {
    const auto began = known.find(after.whose[m]);
    if (began == known.end()) continue;
    const Cycle then = before.moments[began->second];
    // What was held while it waits is remembered from where the other's wait began.
    const bool wait = after.whose[m] % StateVisitor::kMomentsOfAWarp == 0;
    if (wait || after.moments[m] != then || then >= before.at) continue;
    hit.moments[m] = hit.own->moments[began->second] - then;
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

std::optional<MemoHit> memo_hit(const Checkpoint& from, const Checkpoint& to, const Sm& sm, const Snapshot& own, Cycle limit) {
  MemoHit hit{.from = from.sm.get(),
              .to = to.sm.get(),
              .state = &from.state,
              .own = &own,
              .at = own.at + (to.state.at - from.state.at),
              .instructions = to.state.instructions - from.state.instructions};
  if (limit != kNever && hit.at > limit) return std::nullopt;
  const SmState& here = sm.state();
  for (size_t l = 0; l < here.launches.size(); ++l) {
    const auto launch = static_cast<int>(l);
    // Another launch may wait for this one's end.
    if (hit.from->launch_done(launch) != hit.to->launch_done(launch)) return std::nullopt;
    if (!places_the_same(*hit.from, *hit.to, here, launch)) return std::nullopt;
    hit.placed.push_back(hit.to->ctas_placed(launch) - hit.from->ctas_placed(launch));
  }
  if (!here.differs_from_alternatives_like(*hit.from) || !match_classes(here, hit)) return std::nullopt;
  if (!match_loops(here, to.state, hit) || !match_waits(to.state, hit)) return std::nullopt;
  return hit;
}

}  // namespace warpfold::sim
