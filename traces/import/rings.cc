#include "traces/import/rings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "configs/escape/quoted.h"
#include "traces/import/mbarriers.h"
#include "traces/import/reroll.h"
#include "traces/import/ring_positions.h"
#include "traces/validate.h"

namespace warpfold::sass {
namespace {

constexpr uint64_t kNeverOnePhase = uint64_t{1} << 32;  // more lanes than a phase takes

class RingFinder {
 public:
  RingFinder(const std::string& file, const std::vector<Op>& ops, Exploration& found, traces::Kernel& kernel)
      : file_(file), ops_(ops), found_(found), kernel_(kernel) {}

  Expected<void> find() {
    for (const auto step : {&RingFinder::find_mbarriers, &RingFinder::check_mbarriers}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    if (mbarriers_.empty()) return {};
    std::map<int32_t, std::vector<int32_t>> groups;
    for (const auto& [address, mbarrier] : mbarriers_) groups[root(address)].push_back(address);
    for (const auto& [first, stages] : groups) add_ring(stages);
    if (auto found = find_turns(); !found) return found;
    return place_accesses();
  }

 private:
  struct Mbarrier {
    explicit Mbarrier(int32_t address) : parent(address) {}
    int32_t parent;  // parent in the union-find, at a lower address; itself: first stage of the ring
    int used_by = -1;
    std::set<uint32_t> counts;                   // arrival counts of its initialisations
    std::map<size_t, std::set<uint32_t>> lanes;  // by path: lanes that arrive together
    bool by_others = false;                      // CTAs of the cluster arrive at each other's mbarrier
    int arrives = -1;
    uint32_t arrivals = 0;  // instructions that complete a phase
  };

  const Op& op_of(const Step& step) const { return ops_[static_cast<size_t>(step.op)]; }
  int line_of(int op) const { return ops_[static_cast<size_t>(op)].line; }

  Expected<void> find_mbarriers() {
    std::map<int, int32_t> first_of;  // first mbarrier that an instruction used
    for (size_t p = 0; p < found_.paths.size(); ++p) {
      for_each_step(found_.paths[p], [&](Step& step) {
        const int32_t address = step.mbarrier.address;
        if (address < 0) return;
        Mbarrier& mbarrier = mbarriers_.try_emplace(address, Mbarrier(address)).first->second;
        if (at_cluster_barrier(op_of(step))) mbarrier.counts = {static_cast<uint32_t>(found_.boxes.front().paths.size())};
        if (initialises_mbarrier(op_of(step))) {
          mbarrier.counts.insert(step.mbarrier.value);
          step.mbarrier = {};
          return;
        }
        mbarrier.used_by = step.op;
        if (arrives(op_of(step).behaviour)) {
          mbarrier.lanes[p].insert(step.mbarrier.value);
          mbarrier.by_others |= step.mbarrier.reaches != 1;
          mbarrier.arrives = step.op;
        }
        join(address, first_of.try_emplace(step.op, address).first->second);
      });
    }
    return {};
  }

  int32_t root(int32_t address) const {
    while (mbarriers_.at(address).parent != address) address = mbarriers_.at(address).parent;
    return address;
  }

  void join(int32_t one, int32_t other) {
    one = root(one);
    other = root(other);
    mbarriers_.at(std::max(one, other)).parent = std::min(one, other);
  }

  Expected<void> check_mbarriers() {
    std::erase_if(mbarriers_, [](const auto& entry) { return entry.second.used_by < 0; });
    for (auto& [address, mbarrier] : mbarriers_) {
      const std::string which = "the mbarrier at " + std::to_string(address) + " in shared memory";
      if (mbarrier.counts.size() != 1) {
        return fail_at(file_, line_of(mbarrier.used_by), 1,
                       which + (mbarrier.counts.empty() ? " is initialised by no instruction"
                                                        : " is initialised more than once, for different numbers of arrivals"));
      }
      if (auto counted = count_arrivals(which, mbarrier); !counted) return counted;
    }
    return {};
  }

  // Computes the arrivals, as instructions, that complete a phase. If all arrivals have the same number of lanes,
  // divides by it. Otherwise each arriving warp counts once, which requires that together they bring the lanes of one
  // phase.
  Expected<void> count_arrivals(const std::string& which, Mbarrier& mbarrier) const {
    const uint32_t lanes_of_phase = *mbarrier.counts.begin();
    mbarrier.arrivals = lanes_of_phase;
    if (mbarrier.lanes.empty()) return {};
    const std::set<uint32_t>& first = mbarrier.lanes.begin()->second;
    const uint32_t together = *first.begin();
    if (std::ranges::all_of(mbarrier.lanes,
                            [&](const auto& of) { return of.second.size() == 1 && *of.second.begin() == together; })) {
      mbarrier.arrivals = lanes_of_phase / together;
      if (lanes_of_phase % together == 0) return {};
      return fail_at(file_, line_of(mbarrier.arrives), 1,
                     "a phase of " + which + " takes " + std::to_string(lanes_of_phase) + " arrivals, of which " +
                         std::to_string(together) + " come at a time");
    }
    std::set<uint32_t> warps;
    for (const CtaBox& box : found_.boxes) {
      uint64_t lanes = 0;
      uint32_t arriving = 0;
      for (const int path : box.paths) {
        const auto own = mbarrier.lanes.find(static_cast<size_t>(path));
        if (own == mbarrier.lanes.end()) continue;
        lanes += own->second.size() == 1 ? *own->second.begin() : kNeverOnePhase;
        ++arriving;
      }
      if (arriving == 0) continue;
      warps.insert(lanes == lanes_of_phase ? arriving : 0);
    }
    mbarrier.arrivals = *warps.begin();
    if (warps.size() == 1 && mbarrier.arrivals > 0 && !mbarrier.by_others) return {};
    return fail_at(file_, line_of(mbarrier.arrives), 1,
                   "warps arrive at " + which + " with different numbers of lanes, which together are not the " +
                       std::to_string(lanes_of_phase) + " arrivals of a phase; the trace language does not express that");
  }

  uint32_t arrivals(int32_t address) const { return mbarriers_.at(address).arrivals; }

  // Adds a ring. If the mbarriers of the group differ in arrivals, adds a ring of one stage for each.
  void add_ring(const std::vector<int32_t>& stages) {
    const bool alike = std::ranges::all_of(stages, [&](int32_t stage) { return arrivals(stage) == arrivals(stages.front()); });
    if (alike) return rings_.push_back({stages, arrivals(stages.front()), false});
    for (const int32_t stage : stages) rings_.push_back({{stage}, arrivals(stage), false});
  }

  // Determines the turns of each path. A path must have the same turns in every CTA.
  Expected<void> find_turns() {
    std::map<int32_t, uint32_t> of_phase;
    for (const auto& [address, mbarrier] : mbarriers_) of_phase.emplace(address, arrivals(address));
    turns_.resize(found_.paths.size());
    std::vector<bool> known(found_.paths.size());
    std::set<std::vector<int>> seen;
    for (const CtaBox& box : found_.boxes) {
      if (!seen.insert(box.paths).second) continue;
      std::vector<const Path*> paths;
      for (const int path : box.paths) paths.push_back(&found_.paths[static_cast<size_t>(path)]);
      const std::vector<Turns> turns = turns_of(ops_, of_phase, paths);
      for (size_t warp = 0; warp < turns.size(); ++warp) {
        const auto path = static_cast<size_t>(box.paths[warp]);
        if (known[path] && turns_[path] != turns[warp]) {
          return fail_at(
              file_, ops_.front().line, 1,
              "warp " + std::to_string(warp) +
                  " waits for other phases of its mbarriers than another warp on the same path, which the trace language "
                  "does not express");
        }
        known[path] = true;
        turns_[path] = turns[warp];
      }
    }
    return {};
  }

  // Places the accesses on the rings. Rings with stages that a warp passes in no fixed order are split into rings of
  // one stage.
  Expected<void> place_accesses() {
    for (;;) {
      std::vector<RingCursor> cursors;
      std::vector<Path> paths = found_.paths;
      try {
        find_free_ones();
        for (size_t i = 0; i < paths.size(); ++i) place_on_rings(ops_, rings_, turns_[i], paths[i], cursors);
        share_cursors(ops_, paths, cursors);
      } catch (const OutOfOrder& access) {
        if (split(access.ring)) continue;
        return fail_at(file_, line_of(access.op), 1,
                       escape::unquoted(ops_[static_cast<size_t>(access.op)].instruction->mnemonic) +
                           ": the phases of its mbarrier are passed in no fixed order, which the trace language does not express");
      }
      if (std::cmp_greater(cursors.size(), traces::kMostCursors) && split_one_not_in_turn()) continue;
      for (size_t i = 0; i < paths.size(); ++i) found_.paths[i] = rerolled(paths[i]);
      name_equal_ones_alike();
      return describe(cursors);
    }
  }

  // Merges paths that differed only in the CTAs and stages they used.
  void name_equal_ones_alike() {
    std::vector<int> first(found_.paths.size());
    for (size_t i = 0; i < first.size(); ++i)
      first[i] = static_cast<int>(std::ranges::find(found_.paths, found_.paths[i]) - found_.paths.begin());
    for (CtaBox& box : found_.boxes) {
      for (int& path : box.paths) path = first[static_cast<size_t>(path)];
    }
  }

  bool split(size_t index) {
    if (rings_[index].stages.size() == 1) return false;
    const MbarrierRing whole = rings_[index];
    rings_.erase(rings_.begin() + static_cast<std::ptrdiff_t>(index));
    for (const int32_t stage : whole.stages) rings_.push_back({{stage}, whole.arrivals, false});
    return true;
  }

  // Splits a ring in which every warp uses a single stage: rings of one stage need fewer cursors.
  bool split_one_not_in_turn() {
    for (size_t ring = 0; ring < rings_.size(); ++ring) {
      if (!std::ranges::any_of(found_.paths, [&](Path& path) { return uses_several(path, rings_[ring]); }) && split(ring))
        return true;
    }
    return false;
  }

  // True if an instruction of the path uses several stages.
  static bool uses_several(Path& path, const MbarrierRing& ring) {
    std::map<int, int32_t> first_of;
    bool several = false;
    for_each_step(path, [&](const Step& step) {
      if (std::ranges::find(ring.stages, step.mbarrier.address) == ring.stages.end()) return;
      several |= first_of.try_emplace(step.op, step.mbarrier.address).first->second != step.mbarrier.address;
    });
    return several;
  }

  // Marks rings as free. If a warp's first wait names the parity of the phase before the first, it passes at once.
  void find_free_ones() {
    for (Path& path : found_.paths) {
      std::set<size_t> seen;
      for_each_step(path, [&](const Step& step) {
        if (op_of(step).behaviour != isa::Behaviour::kMbarrierWait || step.mbarrier.address < 0) return;
        const size_t ring = ring_of(rings_, step.mbarrier.address);
        if (seen.insert(ring).second) rings_[ring].free |= step.mbarrier.value == 1;
      });
    }
  }

  Expected<void> describe(const std::vector<RingCursor>& cursors) {
    for (const MbarrierRing& ring : rings_) {
      kernel_.rings.push_back(
          {"ring" + std::to_string(kernel_.rings.size()), static_cast<uint32_t>(ring.stages.size()), ring.arrivals, ring.free});
    }
    for (const RingCursor& cursor : cursors) {
      kernel_.cursors.push_back({"cursor" + std::to_string(kernel_.cursors.size()), cursor.depth, cursor.start});
    }
    return {};
  }

  const std::string& file_;
  const std::vector<Op>& ops_;
  Exploration& found_;
  traces::Kernel& kernel_;
  std::map<int32_t, Mbarrier> mbarriers_;  // by address
  std::vector<MbarrierRing> rings_;
  std::vector<Turns> turns_;  // by path; empty: a wait is for the next phase of its parity
};

}  // namespace

Expected<void> find_rings(const std::string& file, const std::vector<Op>& ops, Exploration& found, traces::Kernel& kernel) {
  return RingFinder(file, ops, found, kernel).find();
}

}  // namespace warpfold::sass
