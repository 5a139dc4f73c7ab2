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

// Gates of the sampler, in the order in which it asks them. The first closed gate is the reason why no work is taken.
enum class SamplingGate : uint8_t {
  kOpen,
  kFewBatches,         // too few batches have been measured
  kNothingLeftToTake,  // a launch has less work than one window, or the next release or the run's limit comes sooner
  kLaunchStalled,      // a launch has CTAs on an SM but issued nothing there in the window
  kLaunchWaits,        // a launch waits for room of a launch whose CTAs would be taken but do not end in step
  kWritesFillL2,       // the dirty bytes in L2 grow or shrink, or would reach a bound
  kRatesUncertain,     // the confidence interval of a launch's rate is wider than its budget
  kRatesDrift,         // the rates of the window's halves differ by more than the budget
  kOtherWork,          // the CTAs left request more or fewer bytes per instruction than those of the window
  kFewGenerations,     // too few CTAs have come and gone
  kPiecesTooCoarse,    // whole trips and CTAs are too far off the work wanted
  kNotWorthwhile,      // the skip is not negligible, but too short to justify a change in the order of the work left
};
inline constexpr int kSamplingGates = 12;
std::string_view gate_name(SamplingGate gate);  // "rates_uncertain"

// Extrapolates SMs under simulation whose state does not recur (docs/sampling.md). The sampler measures the rate of
// each launch over batches of cycles, which are the same for all SMs. Once the batches agree, it skips the same time on
// all SMs and takes from each the work that SMs with equal work do in that time.
//
// The machine stays in its state. The work is taken as trips of loops that resident warps are in, or as whole CTAs that
// have not been placed. Behind whole CTAs, a remainder of less than one CTA in each place is taken as trips. Trips that
// the residents do not have are owed, and taken later from the next residents that have them.
class ChipSampler {
 public:
  explicit ChipSampler(const FoldOptions& options) : error_(options.error) {}

  struct Member {
    size_t index = 0;  // of its SM class
    uint64_t sms = 0;  // number of SMs that it represents
    Sm* sm = nullptr;
  };
  using Group = std::vector<size_t>;  // members that do the same
  // A skip of whole windows of time.
  struct Skip {
    size_t first = 0;                                      // sample at which the window begins
    uint64_t windows = 0;                                  // number of windows to skip
    Cycle window = 0;                                      // length of the window
    std::vector<std::vector<SampledSm::Wanted>> wanted{};  // [member][launch]: work to take for one window
    std::vector<std::vector<uint64_t>> of_residents{};     // [member][launch]: windows for which residents have work
    std::vector<Group> alike{};                            // members with CTAs of the same work
    std::vector<Group> alike_by_residents{};               // members with residents of the same work

    Cycle cycles() const { return windows * window; }
  };
  // Takes a sample if one is due, and returns the longest skip that ends by `limit`; none if no sample was due or a
  // gate is closed for every window. Requires that all members have run up to `now`. `dirty_share`: share of L2's room
  // for dirty bytes that is taken.
  std::optional<Skip> look(Cycle now, Cycle limit, const std::vector<Member>& members, double dirty_share);
  // Adds a member for SMs that have been split off a member's class. The samples so far hold for both. `copy` has a
  // copy of the member's SM.
  void add_split_member(size_t member, const Member& copy);
  // Returns the longest skip by the samples so far, as look().
  std::optional<Skip> longest(Cycle limit);
  // Fast-forwards all members, those added by add_split_member() included. Returns the work taken from each.
  std::vector<SampledSm::Taken> take(const Skip& skip);

  const std::vector<Member>& members() const { return members_; }
  // Returns the owed instructions that have been taken from a class since the last call. take() does not report them.
  uint64_t owed_taken(size_t index) { return std::exchange(owed_taken_[index], 0); }

  // Forgets all samples, which no longer hold.
  void restart();
  // Returns the instructions that the first member has issued since the first sample.
  uint64_t measured() const;
  // Returns the closed gate of the last look: of all windows, the one that came furthest in the order of gates.
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
  bool take_owed();
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
  uint64_t most_windows(Skip& skip, Cycle limit);
  bool takes_ctas(const Skip& skip, size_t member, size_t launch, uint64_t windows) const;
  bool progresses(size_t first, size_t launch) const;
  double cycles_after(Cycle skipped, size_t launch) const;
  double budget(Cycle skipped, size_t launch) const;
  using Place = std::pair<const Group*, size_t>;  // a group, and the index of a resident on each of its SMs
  double uncertainty_of_residents(const Skip& skip, size_t launch, const std::vector<Place>& places) const;
  double uncertainty(const Skip& skip, size_t launch, uint64_t windows) const;
  SamplingGate gate_of_rates(const Skip& skip, uint64_t windows);
  double intensity_difference(const Skip& skip, size_t launch, uint64_t windows);
  double rounding_error(const Skip& skip, size_t launch);
  SamplingGate gate_of_pieces(const Skip& skip);
  bool stalled(size_t first) const;
  bool launch_waits(const Skip& skip, uint64_t windows) const;
  bool l2_fills_or_empties(size_t first, Cycle skipped) const;
  bool few_generations(const Skip& skip, size_t launch, uint64_t windows) const;
  bool worthwhile(size_t first, Cycle skipped) const;

  double error_;
  std::vector<Member> members_;
  std::vector<SampledSm> sampled_;               // [member]
  std::vector<std::vector<uint64_t>> phase_;     // [member]
  std::vector<std::vector<size_t>> same_since_;  // [member][launch]: first sample with the residents of the last one
  std::vector<std::vector<uint64_t>> owed_;      // [class][launch]: instructions wanted of CTAs and not taken yet
  std::vector<uint64_t> owed_taken_;             // [class]: owed instructions taken since owed_taken()
  std::vector<double> spent_;                    // per launch: cycles by which uncertain rates of its skips may be off
  std::vector<double> spent_on_pieces_;          // per launch: cycles by which whole pieces of its skips may be off
  Cycle skipped_ = 0;                            // cycles skipped so far
  Cycle batch_ = 0;                              // least cycles from one sample to the next
  std::vector<Sample> samples_;
  SamplingGate blocking_gate_ = SamplingGate::kFewBatches;
};

}  // namespace warpfold::sim
