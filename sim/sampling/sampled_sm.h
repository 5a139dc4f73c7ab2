#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/engine/snapshot.h"
#include "sim/sampling/work.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {

// A sample of one SM: its counts before a cycle, and the work that its warps have left.
struct SmSample {
  // A resident: a warp, or a whole CTA if its warps wait for each other.
  struct Resident {
    uint64_t serial = 0;
    const LoopSpan* loop = nullptr;  // loop whose trips may be taken
    uint64_t trips_left = 0;         // trips left when a trip last ended
    Cycle at = kNever;               // cycle in which a trip last ended; kNever: none has ended yet
    uint64_t instructions = 0;       // instructions left
    Work trip{};                     // work of one trip, of all its warps
  };
  Snapshot state;                                // without the key, CTA classes and owners of moments
  std::vector<std::vector<Resident>> residents;  // per launch, the oldest first
  std::vector<LaunchAccount> launches;
  std::vector<uint64_t> states;                          // per launch: warp-cycles, all states
  std::vector<std::map<AccountCell, uint64_t>> waiting;  // per launch: cycles of waits that are not charged yet
  std::vector<uint64_t> ctas_done;                       // per launch

  uint64_t issued(size_t launch) const { return launches[launch].instructions; }
};

// True if the launch has the same residents, in the same loops, at both samples. Each must have ended a trip before the
// first sample, or do nothing between the two.
bool same_residents(const SmSample& one, const SmSample& other, size_t launch);

// An SM from which work may be taken. Its state stays the same; each launch has less work left.
//
// - Resident warps give trips of a loop: the outermost one with enough trips left. Warps of a CTA that wait for each
//   other all give the same number.
// - CTAs that have not been placed are taken whole, in their order. The last one is never taken.
class SampledSm {
 public:
  explicit SampledSm(Sm& sm);

  Sm& sm() const { return *sm_; }
  // Returns a copy of this object for `copy`, a copy of the SM that may have other CTA classes.
  SampledSm copy_for(Sm& copy) const;
  // Notes which residents have ended a trip since the last call. Call it often: trips' ends then give rates of whole
  // trips, wherever a window begins. Requires that the SM has run up to `now`.
  void watch(Cycle now);
  SmSample sample(Cycle now);  // requires watch(now) before
  // Forgets the ends of trips. Call it after the SM has been fast-forwarded.
  void forget() { pieces_.clear(); }

  // Returns the phase at the last sample, per launch: whether it may place CTAs or, if it has none left, how many of
  // its warps run. Rates hold only within one phase.
  const std::vector<uint64_t>& phase() const { return phase_; }
  bool has_ctas_left(size_t launch) const { return sm_->state().ctas_left(static_cast<int>(launch)); }

  // Work to take from a launch for one window of time: as CTAs or as trips of residents.
  struct Wanted {
    uint64_t instructions = 0;           // instructions, if CTAs are taken
    std::vector<double> of_residents{};  // trips of each resident; empty if residents have changed in the window
  };
  // Return the number of windows for which the residents, or the CTAs not placed yet, have work. kUnbounded: the launch
  // did nothing in the window.
  uint64_t most_of_residents(size_t launch, const Wanted& wanted) const;
  uint64_t most_of_ctas(size_t launch, const Wanted& wanted);
  // Returns the work of the `ctas` CTAs that were placed last.
  Work placed_last(size_t launch, uint64_t ctas);
  // Returns the work of the next CTAs to place: as many as have at most `instructions` together, at most `most`, and
  // never the last one. Adds their number to `ctas`.
  Work next_ctas(size_t launch, uint64_t instructions, uint64_t& ctas, uint64_t most = ~uint64_t{0});
  // Returns the mean work of a CTA that has not been placed.
  Work mean_of_not_placed(size_t launch);
  // Returns the largest difference, over the residents, between the trips wanted and the whole trips taken; in windows.
  double trip_rounding_error(size_t launch, const Wanted& wanted, uint64_t windows) const;
  // Returns the largest difference between the work wanted and the work taken if CTAs are taken, in windows. After whole
  // CTAs, an equal part of less than one CTA remains for each resident, which gives the whole trips in it.
  //
  // CTAs of unequal length, or without trips to take, then also run beside other CTAs than they would have. With n CTAs
  // at a time, in any order, the last CTA ends no sooner than n equal parts of all the work would. It ends later by at
  // most (n - 1) / n of the longest CTA (Graham, SIAM J. Appl. Math. 1969).
  double cta_rounding_error(size_t launch, const Wanted& wanted, uint64_t windows, const std::vector<uint64_t>& owed);

  struct Taken {
    uint64_t windows = 0;                // number of windows skipped
    Cycle cycles = 0;                    // cycles skipped
    std::vector<uint64_t> instructions;  // per launch
  };
  // Fast-forwards the SM by `windows` times the time between the two samples; `to` must be the last one. Takes about
  // the wanted work of all windows: from residents if they have enough trips. Otherwise it takes CTAs, for the wanted
  // and the `owed` instructions.
  Taken take(const SmSample& from, const SmSample& to, uint64_t windows, const std::vector<Wanted>& wanted,
             const std::vector<uint64_t>& owed);
  // Takes the owed instructions from residents, as far as these have trips; no time passes. Returns the instructions
  // taken of each launch.
  std::vector<uint64_t> take_owed(const std::vector<uint64_t>& owed);

 private:
  // A resident and the trips that may be taken from it.
  struct Piece {
    SmSample::Resident resident;
    uint32_t depth = 0;           // depth of the loop
    int sub_core = 0;             // sub-core of its first warp
    int slot = 0;                 // slot of its first warp
    uint64_t warp = 0;            // serial of its first warp
    uint64_t trips_left_now = 0;  // trips left at the last look
    uint64_t trips = 0;           // trips that may be taken
    std::vector<size_t> at{};     // for each of its warps: index in FastForward::trips_taken
    uint64_t taken = 0;           // trips taken

    void take(uint64_t most, uint64_t& wanted);
    uint64_t nearest(double wanted) const;
  };
  template <typename Visit>
  void for_each_warp(Visit visit);
  // A warp, and the index of its outermost loop in FastForward::trips_taken.
  using PlacedWarp = std::pair<const Warp*, size_t>;
  Piece piece_of(const std::vector<PlacedWarp>& warps);
  void find_pieces();
  Work not_placed(int launch, uint64_t& ctas);
  Work ctas_of_all_places(size_t launch, uint64_t instructions, uint64_t& ctas);
  // Returns the instructions of the longest trip that may be taken now; 0: no trip may be taken.
  uint64_t longest_trip(size_t launch) const;
  uint64_t longest_cta(size_t launch);
  bool has_unequal_ctas(size_t launch);
  void take_of_residents(std::vector<Piece>& pieces, uint64_t windows, const Wanted& wanted) const;
  void take_evenly(std::vector<Piece>& pieces, uint64_t instructions) const;

  Sm* sm_;
  std::vector<WorkTable> work_;             // per launch
  std::vector<uint64_t> phase_;             // phase at the last sample
  std::vector<std::vector<Piece>> pieces_;  // residents at the last sample, per launch, the oldest first
};

}  // namespace warpfold::sim
