#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// Leaves a field out of a key (FoldOptions::omitted_field).
class FieldOmitter : public KeyFilter {
 public:
  explicit FieldOmitter(const std::string& field) : field_(field) {}
  bool keeps(const char* name, uint64_t /*word*/) override { return name != field_; }

 private:
  const std::string& field_;
};

// Replays a sample of the exact skips of a run before they are made (FoldOptions::check_skips). Two copies of the SM come to the
// same cycle, one by replay and one by the skip; their states must be equal, and so must all that they have counted:
//
//   recurrence   S0 ---- period ---- S1 ---- replayed ----> a state that must be
//                                    S1 ==== one period ==> this one
//
// The copies have no observer: nothing is skipped in them, also inside the period. A difference is a defect of folding: throws
// std::logic_error with the kernels on the SM, the cycle, the figure and both values.
class SkipCheck {
 public:
  // `omitted_field`: what the run's keys leave out, this one's do too.
  explicit SkipCheck(std::string omitted_field) : omitted_field_(std::move(omitted_field)) {}

  // `sm`, in state `after`, is about to skip repetitions of what came between the two states. `ctas`: of its launches.
  void recurrence(const Sm& sm, const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas);

  uint64_t skips() const { return skips_; }
  uint64_t checked() const { return checked_; }

 private:
  // assumed: one in eight adds at most an eighth to what a run replays, but for periods within which much was skipped; those are
  // bounded by instructions, to a tenth of a second a run at 20 million a second (docs/performance.md).
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
