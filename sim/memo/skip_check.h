#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// Leaves one field out of the state key (FoldOptions::omitted_field).
class FieldOmitter : public KeyFilter {
 public:
  explicit FieldOmitter(const std::string& field) : field_(field) {}
  bool keeps(const char* name, uint64_t /*word*/) override { return name != field_; }

 private:
  const std::string& field_;
};

// Replays a sample of a run's exact skips before they are made (FoldOptions::check_skips). Two copies of the SM reach
// the same cycle, one by replay and one by a skip of one period. Their states and all their counts must be equal:
//
//   S0 ---- period ---- S1 ---- replayed period ---> S2
//                       S1 ==== skipped period ====> must equal S2
//
// The copies have no observer, so nothing is skipped inside the replayed period. A difference is a defect of folding:
// std::logic_error, with the kernels on the SM, the cycle, the figure and both values.
class SkipCheck {
 public:
  // `omitted_field`: field that the run's keys leave out, as those of the check must.
  explicit SkipCheck(std::string omitted_field) : omitted_field_(std::move(omitted_field)) {}

  // Checks, for a sample, a skip that `sm` is about to make: repetitions of the period between the two states. The SM
  // must be in state `after`. `ctas`: per launch, the SM's list of CTAs.
  void recurrence(const Sm& sm, const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas);

  uint64_t skips() const { return skips_; }
  uint64_t checked() const { return checked_; }

 private:
  // assumed: one skip in eight adds at most an eighth to a run's replay, unless much was skipped within the period. The
  // number of instructions bounds such periods: to a tenth of a second a run, at 20 million instructions a second
  // (docs/performance.md).
  static constexpr uint64_t kOneIn = 8;
  static constexpr uint64_t kMostInstructions = 2'000'000;

  bool draw(uint64_t instructions);
  void compare(Sm& replayed, Sm& skipped, Cycle at, const std::string& what) const;

  std::string omitted_field_;
  uint64_t skips_ = 0;
  uint64_t checked_ = 0;
  uint64_t instructions_left_ = kMostInstructions;
};

}  // namespace warpfold::sim
