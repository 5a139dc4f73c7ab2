#pragma once

namespace warpfold::sim {

// What ends a run of an SM before its limit. It is about how the SM is run, not part of its state.
struct RunControl {
  bool launch_ended = false;  // the last run stopped where a launch's last CTA ended
  // The SM does what twins of it do as well (ClassRun::Twin). run() also stops wherever that may end: where a loop whose trips a
  // CTA class says comes to its last one, or time has been skipped.
  bool shared = false;
  bool may_diverge = false;   // one of these has come, since run() was called
  bool ends_sharing = false;  // the same: what comes next is for this SM alone

  void begin() { launch_ended = may_diverge = ends_sharing = false; }
  void end_sharing() { ends_sharing = may_diverge = true; }
};

}  // namespace warpfold::sim
