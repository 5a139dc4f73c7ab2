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

// A sample: an SM's counts before a cycle, and the work that its warps have left.
struct SmSample {
  // A resident warp, or all of a CTA whose warps wait for each other, in the loop that it gives trips of.
  struct Resident {
    uint64_t serial = 0;
    const LoopSpan* loop = nullptr;
    uint64_t trips_left = 0;    // when a trip ended the last time
    Cycle at = kNever;          // which was then; kNever: none has yet
    uint64_t instructions = 0;  // left
    Work trip{};                // one of each warp
  };
  Snapshot state;                                // counts, charges and CTAs placed
  std::vector<std::vector<Resident>> residents;  // per launch: the oldest first
  std::vector<LaunchAccount> launches;
  std::vector<uint64_t> states;                          // per launch: warp-cycles, all states
  std::vector<std::map<AccountCell, uint64_t>> waiting;  // per launch: waits that go on, not charged yet
  std::vector<uint64_t> ctas_done;                       // per launch

  uint64_t issued(size_t launch) const { return launches[launch].instructions; }
};

// The launch's residents are the same at both, in the same loops. Each has ended a trip before the first, or does nothing in
// between.
bool same_residents(const SmSample& one, const SmSample& other, size_t launch);

// An SM from which work may be taken. Its state stays as it is; of each launch it has less left.
//
// - Resident warps give trips of a loop: of the outermost one that has enough of them left. Warps of a CTA that wait for each other
//   all give as many.
// - CTAs that have not been placed are given whole, in their order, but for the last one.
class SampledSm {
 public:
  explicit SampledSm(Sm& sm);

  Sm& sm() const { return *sm_; }
  // The same of a copy of the SM as it is, which may have other CTAs.
  SampledSm of(Sm& copy) const;
  // All that comes before `now` has been done. Notes which residents have ended a trip since it was called last: often, so that
  // their rates are those of whole trips, wherever a window begins.
  void watch(Cycle now);
  SmSample sample(Cycle now);  // behind watch(now)
  // The SM has been moved on: what was noted is of another time.
  void forget() { pieces_.clear(); }

  // The phase of the last sample: of each launch whether it may place CTAs, and with none left how many of its warps
  // run. Rates hold as long as this stays what it is.
  const std::vector<uint64_t>& phase() const { return phase_; }
  bool has_ctas_left(size_t launch) const { return sm_->state().ctas_left(static_cast<int>(launch)); }

  // Work to be taken of a launch, in one window of time.
  struct Wanted {
    uint64_t instructions = 0;           // of CTAs
    std::vector<double> of_residents{};  // trips of each resident; empty where those have not been the same
  };
  // Residents, or CTAs, have work for so many windows. kUnbounded: the launch gets on with nothing.
  uint64_t most_of_residents(size_t launch, const Wanted& wanted) const;
  uint64_t most_of_ctas(size_t launch, const Wanted& wanted);
  // Of the CTAs that were placed last, as many as that; of the next ones, but for the last, as many as have no more instructions.
  Work placed_last(size_t launch, uint64_t ctas);
  Work next_ctas(size_t launch, uint64_t instructions, uint64_t& ctas, uint64_t most = ~uint64_t{0});
  // The mean work of a CTA that has not been placed.
  Work mean_of_not_placed(size_t launch);
  // How far the whole trips that are nearest to what is wanted of a resident are off it, at most, in windows.
  double most_off(size_t launch, const Wanted& wanted, uint64_t periods) const;
  // How far the place of a CTA is off, at most, in windows, where CTAs are taken: by what its resident gives of its part of less
  // than a CTA in each place. Unequal CTAs, and those without a trip to take, go on beside others than they would have. Whatever
  // the order, the last of several that run at a time ends no sooner than all work in even parts, and later by all but one such
  // part of the longest CTA at most (Graham, SIAM J. Appl. Math. 1969).
  double most_off_of_ctas(size_t launch, const Wanted& wanted, uint64_t periods, const std::vector<uint64_t>& owed);

  struct Taken {
    uint64_t periods = 0;
    Cycle cycles = 0;
    std::vector<uint64_t> instructions;  // per launch
  };
  // Moves the SM on by so many times the time between the two samples, the later of which has been taken last. Takes about what is
  // wanted, and of CTAs also what is owed, of residents where they have the work for all periods.
  Taken take(const SmSample& from, const SmSample& to, uint64_t periods, const std::vector<Wanted>& wanted,
             const std::vector<uint64_t>& owed);
  // Takes what is owed of residents, as far as they have trips; no time passes. Returns how many instructions, per launch.
  std::vector<uint64_t> take_owed(const std::vector<uint64_t>& owed);

 private:
  // A resident, which gives trips.
  struct Piece {
    SmSample::Resident resident;
    uint32_t depth = 0;  // of the loop
    int sub_core = 0;    // of its first warp
    int slot = 0;
    uint64_t warp = 0;            // the same warp's serial
    uint64_t trips_left_now = 0;  // when it was looked at
    uint64_t trips = 0;           // that may be taken
    std::vector<size_t> at{};     // in FastForward::trips_taken
    uint64_t taken = 0;           // trips

    void take(uint64_t most, uint64_t& wanted);
    uint64_t nearest(double wanted) const;
  };
  template <typename Visit>
  void for_each_warp(Visit visit);
  // A warp, and where the trips of its loops begin in FastForward::trips_taken.
  using PlacedWarp = std::pair<const Warp*, size_t>;
  Piece piece_of(const std::vector<PlacedWarp>& warps);
  void find_pieces();
  Work not_placed(int launch, uint64_t& ctas);
  Work ctas_of_all_places(size_t launch, uint64_t instructions, uint64_t& ctas);
  uint64_t longest_trip(size_t launch) const;  // that may be taken now, in instructions; 0: none
  uint64_t longest_cta(size_t launch);
  bool has_unequal_ctas(size_t launch);
  void take_of_residents(std::vector<Piece>& pieces, uint64_t periods, const Wanted& wanted) const;
  void take_evenly(std::vector<Piece>& pieces, uint64_t instructions) const;

  Sm* sm_;
  std::vector<WorkTable> work_;             // per launch
  std::vector<uint64_t> phase_;             // as of the last sample
  std::vector<std::vector<Piece>> pieces_;  // the same, per launch, the oldest first
};

}  // namespace warpfold::sim
