#pragma once

namespace warpfold::sim {

// What ends a run of an SM before its limit. It is about how the SM is run, not part of its state.
struct RunControl {
  bool launch_ended = false;  // the last run stopped where a launch's last CTA ended
  bool paused = false;        // run() stops at the end of this cycle
  // The SM does what other SMs do as well, as long as they do the same: run() also stops wherever that may end, which is where a
  // CTA has been placed, a loop bound by a CTA class comes to its last trip, or time has been skipped.
  bool shared = false;
  bool may_diverge = false;   // one of these has come, since run() was called
  bool ends_sharing = false;  // the same: what comes next is for this SM alone
  bool may_jump = false;      // the SMs that still share it would have the same work taken away

  void begin() { launch_ended = paused = may_diverge = ends_sharing = false; }
  void share(bool with_others) {
    shared = with_others;
    may_jump = false;
  }
  void end_sharing() { ends_sharing = may_diverge = true; }
  bool jumps() const { return !shared || may_jump; }
};

}  // namespace warpfold::sim
