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

// Shares the chip's L2 and DRAM among SM classes. A class asks for bandwidth if it has work left that may use L2 or
// DRAM.
//
// clang-format off
//   one class asks        Its SMs get equal parts of the whole bandwidth. One SM of the class runs by itself, at fixed
//                         rates, and is folded.
//   several classes ask   They meet in ChipMemory. Each class has a lane there, with its number of SMs as weight. Equal
//                         SMs get equal service, so one SM represents its class exactly. If the options allow an
//                         error, ChipSampler skips the same time on all classes.
// clang-format on
//
// Classes that meet run in quanta. An SM learns of a transfer at the earliest Spec::memory_reply cycles after the
// transfer has passed L2 and DRAM, so within a quantum of that length each SM runs by itself. Between two quanta,
// ChipMemory serves the requests of all classes in order of time. A quantum is lookahead (Chandy and Misra, IEEE TSE
// 1979): its length changes no result.
class ChipSharing {
 public:
  // `threads`: number of threads that run the SMs of a quantum. No result depends on it.
  ChipSharing(const Spec& spec, const std::vector<KernelImage>& images, std::vector<ClassRun>& class_runs,
              WorkDistributor& distributor, const FoldOptions& fold, unsigned threads);

  // Returns the classes that ask for bandwidth now or are the next to do so.
  std::vector<size_t> bandwidth_users() const;
  // True if the class has CTAs on its SMs or requests under way.
  bool active(size_t m) const;
  // Returns the first cycle in which a class outside `asking` may ask for bandwidth; kNever: there is none.
  Cycle others_begin(const std::vector<size_t>& asking) const;
  // Gives the whole of L2 and DRAM to the class's SMs. Requires that no other class asks for bandwidth.
  void run_alone(ClassRun& class_run);
  // Returns the dirty bytes in L2, of all SMs. Requires that each class has rates of its own (end_sharing()).
  uint64_t dirty_bytes() const;

  // True if a class has activity left or a transfer is under way.
  bool pending() const;
  struct Limits {
    Cycle until = kNever;    // no class runs this cycle or a later one
    Cycle ahead = kNever;    // most cycles by which one class may run ahead of another
    bool while_many = true;  // stop as soon as only one class asks for bandwidth
  };
  // Runs all classes, quantum by quantum. Also stops after a quantum in which a launch has ended on an SM, or in which
  // the last CTA of a launch has left its queue.
  void run_together(const Limits& limits, const FoldOptions& fold);
  // Gives each class rates of its own again. Transfers under way complete as if no request followed them.
  void end_sharing();
  // True if CTAs that wait for each other are on SMs of several classes.
  bool grids_span_classes() const;
  // Assigns the barriers of grids to SMs or to the chip. If all SMs of a launch do the same, an SM knows from its own
  // CTAs when a phase is complete. If `together`, the chip counts the arrivals of all classes after each quantum.
  void assign_grids(bool together);
  // Does as end_sharing(). From cycle `now` on, each SM then has an equal part of the rates and of the dirty bytes in
  // L2. Requires that no class has run beyond `now`.
  void serve_evenly(Cycle now);

  // True if the class has requests under way, or launches left that may use L2 or DRAM.
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
  bool answer_cta_requests();
  uint64_t sms_of(const std::vector<size_t>& classes) const;
  std::vector<size_t> classes_with(size_t launch) const;
  void complete_grid_phases();
  void sample(Cycle limit, const FoldOptions& fold);

  const Spec& spec_;
  std::vector<ClassRun>& class_runs_;
  WorkDistributor& distributor_;
  std::vector<bool> launch_uses_memory_;
  std::vector<const KernelImage*> grids_;  // by launch: its image if its CTAs wait for each other, else none
  ChipMemory chip_;
  bool joined_ = false;
  Cycle now_ = 0;
  std::vector<Asking> asked_of_chip_{};  // requests of this quantum
  Team team_;
  std::vector<size_t> due_{};           // classes with activity in this quantum
  std::optional<ChipSampler> sampler_;  // none: nothing is estimated
};

}  // namespace warpfold::sim
