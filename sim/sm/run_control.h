#pragma once

namespace warpfold::sim {

// Conditions that end a run of an SM before its limit. They are no part of the SM's state.
struct RunControl {
  bool launch_ended = false;  // a launch's last CTA on the SM ended in the last run
  // The SM is simulated for its twins too (ClassRun::Twin). Sm::run then also stops where a twin may diverge: at the
  // last trip of a loop whose trips depend on the CTA class, or after time has been skipped.
  bool has_twins = false;
  bool may_diverge = false;      // since run() was called, such a point has been reached
  bool parts_all_twins = false;  // since run() was called: sampling is about to extrapolate this SM alone, so all twins part

  void begin() { launch_ended = may_diverge = parts_all_twins = false; }
  void end_sharing() { parts_all_twins = may_diverge = true; }
};

}  // namespace warpfold::sim
