#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/team.h"
#include "sim/engine/time.h"
#include "sim/gpu/class_run.h"
#include "sim/memory/chip_memory.h"
#include "sim/sampling/bandwidth_estimate.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// How SM classes share L2 and DRAM of the chip.
//
// clang-format off
//   one class asks for bandwidth      its SMs have all of it, evenly: an SM of it runs by itself, at fixed rates, and is folded
//   several ask                       they meet in ChipMemory, each in a lane that counts as many SMs as the class has. Equal SMs
//                                     get equal service there: one represents the class exactly
//   the same, in a long bounded run   each runs by itself and is folded, at rates that the others leave (bandwidth_estimate.h),
//                                     for a slice of time after which demands are measured anew
// clang-format on
//
// Classes that meet run in quanta. No SM learns of a transfer sooner than Spec::memory_reply cycles after it has passed L2 and
// DRAM, so within a quantum of that length each runs by itself. Between two quanta, ChipMemory serves what all have asked for, in
// order of time. The length of a quantum is lookahead (Chandy and Misra, IEEE TSE 1979): it changes no result.
class ChipSharing {
 public:
  // `threads`: that run the SMs of a quantum. No result depends on it.
  ChipSharing(const Spec& spec, const std::vector<KernelImage>& images, std::vector<ClassRun>& class_runs, unsigned threads);

  // The classes that ask for bandwidth from here on, each before any other class begins to.
  std::vector<size_t> asking() const;
  // The class has CTAs on its SMs, or requests under way.
  bool begun(size_t m) const;
  // When another class begins to (kNever: none does).
  Cycle others_begin(const std::vector<size_t>& asking) const;
  // No other class asks for anything: its SMs have all of L2 and DRAM.
  void run_alone(ClassRun& class_run);

  // Something is left to do, or to pass.
  bool pending() const;
  struct Limits {
    Cycle until = kNever;                // no class does what comes in this cycle or later
    Cycle ahead = kNever;                // no class gets further ahead of another
    uint64_t instructions = UINT64_MAX;  // stops soon after all classes together have issued so many since the run began
    bool while_many = true;              // stops where only one class asks
  };
  // Runs all classes, a quantum after the other. Stops at the end of one in which a launch has ended on an SM.
  void run_together(const Limits& limits, const FoldOptions& fold);
  // Every class has rates of its own again.
  void part();
  // The same, and from `now` on, which no class has passed, each SM has an even part of the rates and of what waits in L2 to be
  // written back.
  void serve_evenly(Cycle now);

  // ---- estimates (chip_estimate.cc)

  // The number of instructions of all classes since the run began until which they replay together; behind it their bandwidth is
  // estimated. 0: it is reached.
  uint64_t replay_together_until(const std::vector<size_t>& asking, const FoldOptions& fold);
  // The classes run apart from here on, at estimated rates; returns until when.
  Cycle begin_slice(const std::vector<size_t>& asking);
  // A launch has ended at `until`: whether some class has got further by so much that it matters.
  bool too_far(Cycle until);
  // Measures what the classes asked for up to `until`; false where they are to be run again, in a shorter slice: their rates were
  // made for something else.
  bool end_slice(Cycle until);
  void shorten_slice();
  // Some result rests on estimated rates, or on representatives that others met in memory.
  bool estimated() const { return estimated_; }

  // The class has something left to do that may ask L2 or DRAM for bandwidth.
  bool uses_memory(const ClassRun& class_run) const;

 private:
  struct Asking {
    size_t lane;
    Sm::Asked asked;
  };
  void join();
  bool run_quantum(Cycle end, const FoldOptions& fold);
  void exchange(Cycle end);
  void deliver();
  void give_lanes(size_t leader);
  std::vector<size_t> simulated() const;  // the classes with an Sm
  uint64_t sms_of(const std::vector<size_t>& classes) const;
  uint64_t instructions() const;
  uint64_t issued_apart() const;
  std::vector<uint64_t> phase_of(const std::vector<size_t>& asking) const;
  void measure(Cycle now, bool apart);
  std::vector<MemoryDemand> demands_of(const std::vector<size_t>& asking) const;
  void begin_measurement(Cycle now);

  const Spec& spec_;
  std::vector<ClassRun>& class_runs_;
  std::vector<bool> launch_uses_memory_;
  uint64_t work_ = 0;  // instructions of all classes, one SM of each
  ChipMemory chip_;
  bool joined_ = false;
  Cycle now_ = 0;
  std::vector<Asking> asked_of_chip_{};  // in this quantum
  Team team_;
  std::vector<size_t> due_{};  // classes with something to do in this quantum

  struct Asked {
    Cycle at = 0;
    uint64_t l2_read = 0;
    uint64_t l2_write = 0;
    uint64_t dram_read = 0;
    uint64_t dram_write = 0;
  };
  bool estimated_ = false;
  std::vector<MemoryDemand> demands_;  // per class, as last measured
  std::vector<Asked> asked_;           // per class, when the measurement began
  Cycle measured_from_ = 0;
  std::vector<uint64_t> phase_;  // which classes ask, and for which launches
  Cycle phase_begin_ = 0;
  uint64_t together_left_ = 0;   // instructions that later phases may replay together
  uint64_t together_until_ = 0;  // what instructions() has reached when this phase's classes part
  bool started_ = false;
  Cycle slice_ = 0;             // cycles
  int accepted_to_grow_ = 0;    // slices to accept before the next is longer: one of that length was run again
  uint64_t issued_before_ = 0;  // by them, when the slice began
  uint64_t replayed_before_ = 0;
  bool replay_slice_ = false;    // together
  uint64_t together_again_ = 0;  // instructions, when a slice is the next time
  std::vector<size_t> apart_;    // classes of the slice
  Cycle launch_end_ = kNever;    // when a launch ended that a slice went past
};

// A run of so many instructions of all classes is replayed, which takes seconds: no bandwidth is estimated in it, and no class
// represents another one. Where a coarse error is allowed, a tenth of a second. measured: of prefill beside decode on an H100, 57
// million, estimates took 1.6 times as long as the replay.
inline constexpr double kCoarseError = 0.005;
inline constexpr uint64_t short_run(double error) { return error < kCoarseError ? 64'000'000 : 1'000'000; }

// SMs that a leader's Sm represents: its own and its followers'.
uint64_t represented_sms(const std::vector<ClassRun>& class_runs, const ClassRun& leader);

}  // namespace warpfold::sim
