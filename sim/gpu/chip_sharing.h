#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/team.h"
#include "sim/engine/time.h"
#include "sim/gpu/class_run.h"
#include "sim/gpu/work_distributor.h"
#include "sim/memory/chip_memory.h"
#include "sim/sampling/chip_sampler.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// How SM classes share L2 and DRAM of the chip.
//
// clang-format off
//   one class asks for bandwidth      its SMs have all of it, evenly: an SM of it runs by itself, at fixed rates, and is folded
//   several ask                       they meet in ChipMemory, each in a lane that counts as many SMs as the class has. Equal SMs
//                                     get equal service there: one represents the class exactly. Where the options allow an
//                                     error, work is taken of all of them for the same time (ChipSampler)
// clang-format on
//
// Classes that meet run in quanta. No SM learns of a transfer sooner than Spec::memory_reply cycles after it has passed L2 and
// DRAM, so within a quantum of that length each runs by itself. Between two quanta, ChipMemory serves what all have asked for, in
// order of time. The length of a quantum is lookahead (Chandy and Misra, IEEE TSE 1979): it changes no result.
class ChipSharing {
 public:
  // `threads`: that run the SMs of a quantum. No result depends on it.
  ChipSharing(const Spec& spec, const std::vector<KernelImage>& images, std::vector<ClassRun>& class_runs,
              WorkDistributor& distributor, const FoldOptions& fold, unsigned threads);

  // The classes that ask for bandwidth from here on, each before any other class begins to.
  std::vector<size_t> asking() const;
  // The class has CTAs on its SMs, or requests under way.
  bool begun(size_t m) const;
  // When another class begins to (kNever: none does).
  Cycle others_begin(const std::vector<size_t>& asking) const;
  // No other class asks for anything: its SMs have all of L2 and DRAM.
  void run_alone(ClassRun& class_run);
  // In L2, of all SMs.
  uint64_t dirty_bytes() const;

  // Something is left to do, or to pass.
  bool pending() const;
  struct Limits {
    Cycle until = kNever;    // no class does what comes in this cycle or later
    Cycle ahead = kNever;    // no class gets further ahead of another
    bool while_many = true;  // stops where only one class asks
  };
  // Runs all classes, a quantum after the other. Stops at the end of one in which a launch has ended on an SM, or its queue.
  void run_together(const Limits& limits, const FoldOptions& fold);
  // Every class has rates of its own again.
  void part();
  // The same, and from `now` on, which no class has passed, each SM has an even part of the rates and of what waits in L2 to be
  // written back.
  void serve_evenly(Cycle now);

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
  void give_lane(size_t from, size_t to);
  bool answer();
  uint64_t sms_of(const std::vector<size_t>& classes) const;
  void sample(Cycle limit, const FoldOptions& fold);

  const Spec& spec_;
  std::vector<ClassRun>& class_runs_;
  WorkDistributor& distributor_;
  std::vector<bool> launch_uses_memory_;
  ChipMemory chip_;
  bool joined_ = false;
  Cycle now_ = 0;
  std::vector<Asking> asked_of_chip_{};  // in this quantum
  Team team_;
  std::vector<size_t> due_{};           // classes with something to do in this quantum
  std::optional<ChipSampler> sampler_;  // none: exact only
};

}  // namespace warpfold::sim
