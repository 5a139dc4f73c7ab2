#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/memo/fold.h"
#include "sim/sampling/batch_means.h"
#include "sim/sampling/sampled_sm.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Why no work is taken: the first condition that does not hold, in the order in which they are asked.
enum class SamplingGate : uint8_t {
  kOpen,
  kFewBatches,         // too little has been measured
  kNothingLeftToTake,  // a loop, a launch or the limit of the run ends before one more window of work
  kLaunchStalled,      // CTAs run that did nothing in the window
  kLaunchWaits,        // one is due at a known time, or waits for room that other warps than those in step will leave
  kWritesFillL2,       // dirty bytes come to a bound
  kRatesUncertain,     // the confidence interval of a launch's rate is wider than its budget
  kRatesDrift,         // the window's halves differ by more than the budget
  kOtherWork,          // the CTAs that are left ask for more or fewer bytes an instruction than those that ran
  kFewGenerations,     // too few CTAs have come and gone
  kPiecesTooCoarse,    // the smallest piece that can be taken is too long
  kNotWorthwhile,      // neither negligible nor worth what it may do to the order of what is left
};
inline constexpr int kSamplingGates = 12;
std::string_view gate_name(SamplingGate gate);  // "rates_uncertain"

// Takes work away from SMs under simulation where their state does not recur (docs/sampling.md). It measures how fast each launch
// gets on, over batches of cycles that all SMs pass together. Once the batches agree, it takes of every SM as much work as SMs that
// do the same have done, for the same number of cycles.
//
// The machine itself stays in the state that it is in. Of CTAs, what is less than one is taken of the next resident that has so
// many trips.
class ChipSampler {
 public:
  explicit ChipSampler(const FoldOptions& options) : error_(options.error) {}

  struct Member {
    size_t index = 0;  // of its class
    uint64_t sms = 0;  // that it stands for
    Sm* sm = nullptr;
  };
  using Group = std::vector<size_t>;  // members that do the same
  // A stretch of time that may be skipped.
  struct Skip {
    size_t first = 0;      // the sample at which its window begins
    uint64_t periods = 0;  // windows
    Cycle window = 0;
    std::vector<std::vector<SampledSm::Wanted>> wanted{};  // [member][launch]: in one window
    std::vector<std::vector<uint64_t>> of_residents{};     // [member][launch]: windows that those have work for
    std::vector<Group> alike{};
    std::vector<Group> alike_by_residents{};

    Cycle cycles() const { return periods * window; }
  };
  // All members have done what comes before `now`. `dirty_share`: of the room in L2 for what waits to be written back. Returns the
  // longest skip that ends by `limit`; none where a gate is closed.
  std::optional<Skip> look(Cycle now, Cycle limit, const std::vector<Member>& members, double dirty_share);
  // An SM that the member stood for has parted from it: what was measured is of both. `copy` is a copy of the member's SM.
  void part(size_t member, const Member& copy);
  // The same as look(), of what has been measured so far.
  std::optional<Skip> longest(Cycle limit);
  // Moves the members on, which are those of the last look and those that have parted from them since; returns what was taken of
  // each.
  std::vector<SampledSm::Taken> take(const Skip& skip);

  const std::vector<Member>& members() const { return members_; }
  // Instructions that have been taken of a class since this was asked last, besides those that take() has returned.
  uint64_t taken_besides(size_t index) { return std::exchange(besides_[index], 0); }

  // Forgets all samples: they no longer hold.
  void restart();
  // Instructions of one SM over which rates have been measured so far.
  uint64_t measured() const;
  // The gate that was closed when work was last asked for: of all windows the one that came furthest.
  SamplingGate blocking_gate() const { return blocking_gate_; }

 private:
  struct Sample {
    Cycle at = 0;
    double dirty_share = 0;
    std::vector<SmSample> of_member{};
  };

  void make_room(size_t index);
  static bool may_begin_window(size_t sample);
  static void forget_counts(Sample& sample);
  bool settle();
  bool observe(Cycle now, const std::vector<Member>& members, double dirty_share);
  size_t launches() const { return samples_.back().of_member.front().launches.size(); }
  std::vector<Batch> batches(size_t first, const Group& group, size_t launch) const;
  uint64_t issued(size_t first, size_t member, size_t launch) const;
  SamplingGate plan(size_t first, Cycle limit, Skip& skip);
  void find_same_residents();
  std::vector<Group> groups(size_t first, bool by_residents);
  void set_wanted(size_t first, Skip& skip);
  uint64_t placed(size_t first, size_t member, size_t launch) const;
  bool does_nothing(size_t first, size_t member, size_t launch, size_t resident) const;
  Batch trips(const Group& group, size_t from, size_t to, size_t launch, size_t resident) const;
  uint64_t most_periods(Skip& skip, Cycle limit);
  bool by_ctas(const Skip& skip, size_t member, size_t launch, uint64_t periods) const;
  bool progresses(size_t first, size_t launch) const;
  double cycles_after(Cycle skipped, size_t launch) const;
  double budget(Cycle skipped, size_t launch) const;
  using Place = std::pair<const Group*, size_t>;  // of a resident on each of the group's SMs
  double uncertainty_of_residents(const Skip& skip, size_t launch, const std::vector<Place>& places) const;
  double uncertainty(const Skip& skip, size_t launch, uint64_t periods) const;
  SamplingGate gate_of_rates(const Skip& skip, uint64_t periods);
  double otherness(const Skip& skip, size_t launch, uint64_t periods);
  double off(const Skip& skip, size_t launch);
  SamplingGate gate_of_pieces(const Skip& skip);
  bool stalled(size_t first) const;
  bool launch_waits(const Skip& skip, uint64_t periods) const;
  bool l2_fills_or_empties(size_t first, Cycle skipped) const;
  bool few_generations(const Skip& skip, size_t launch, uint64_t periods) const;
  bool worthwhile(size_t first, Cycle skipped) const;

  double error_;
  std::vector<Member> members_;
  std::vector<SampledSm> sampled_;               // [member]
  std::vector<std::vector<uint64_t>> phase_;     // [member]
  std::vector<std::vector<size_t>> same_since_;  // [member][launch]: the sample since which its residents have been the same
  std::vector<std::vector<uint64_t>> owed_;      // [class][launch]: instructions, wanted of CTAs and not taken
  std::vector<uint64_t> besides_;                // [class]: instructions, taken of what was owed
  std::vector<double> spent_;                    // per launch: cycles that the rates of its skips have left open
  std::vector<double> spent_on_pieces_;          // the same, that whole pieces have
  Cycle skipped_ = 0;                            // by all
  Cycle batch_ = 0;                              // cycles from one sample to the next, at least
  std::vector<Sample> samples_;
  SamplingGate blocking_gate_ = SamplingGate::kFewBatches;
};

}  // namespace warpfold::sim
