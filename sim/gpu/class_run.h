#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/account/timeline_recorder.h"
#include "sim/gpu/sm_folding.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// An SM class under simulation (SmClass): one SM is simulated for all of the class.
struct ClassRun {
  uint64_t sms = 0;                 // number of SMs, those of its twins included
  std::vector<CtaList> ctas;        // per launch
  std::vector<uint32_t> indices{};  // the class's SMs on the chip, without the twins' SMs
  bool sampled = false;             // see SmClass::sampled
  std::unique_ptr<Sm> sm = nullptr;
  std::unique_ptr<SmFolding> folding = nullptr;  // none: every instruction is replayed
  Cycle next = kNever;                           // cycle of the Sm's next activity
  // Instructions in the Sm's counters that were replayed for the class from which this one was split.
  uint64_t replayed_elsewhere = 0;

  // SMs that have as many CTAs as the class, but CTAs with more trips of some loops: persistent CTAs of a GEMM that
  // have one tile more. The class's Sm does what the twin does until the Sm is on its last trip of such a loop. Until
  // then the twin may skip every period that the Sm skips, since a period takes the same number of trips from both.
  struct Twin {
    std::vector<uint32_t> indices;
    std::vector<CtaList> ctas;       // per launch
    std::vector<ClassMap> class_of;  // per launch: the twin's CTA class for each CTA class of the Sm

    // True if the twin may get a CTA of class `own` when the Sm gets one of class `theirs`: each CTA class of the Sm
    // corresponds to one of the twin.
    bool fits(size_t launch, uint32_t theirs, uint32_t own) const;
    // Records that the Sm gets `ctas` CTAs of class `theirs` and the twin as many of class `own`.
    void add(size_t launch, uint32_t theirs, uint32_t own, uint64_t ctas);
    // True if the Sm is on the last trip of a loop that the twin goes through more often.
    bool diverges(const Sm& sm) const;
  };
  std::vector<Twin> twins{};

  // Returns the number of instructions that were replayed for this class.
  uint64_t replayed() const;
};

// True if CTAs of class `more` have at least as many trips of every loop as those of class `less`, and both have at
// least two trips of each loop in which they differ. Such CTAs do the same until a last trip.
bool begins_alike(const traces::Kernel& kernel, uint32_t less, uint32_t more);

// Makes a twin of some of the class's SMs, given by their indices. So far the twin has the same CTAs.
ClassRun::Twin& become_twin(ClassRun& class_run, const std::vector<uint32_t>& indices);
// Splits some SMs, given by their indices, off class `from`. The new class has a copy of the Sm and is appended to
// `class_runs`. Returns its index.
size_t split_class(std::vector<ClassRun>& class_runs, size_t from, std::vector<uint32_t> indices, const FoldOptions& fold);
// Makes classes of those twins of class `from` that diverge now, or of `all`. Returns the indices of the new classes.
std::vector<size_t> split_twins(std::vector<ClassRun>& class_runs, size_t from, bool all, const FoldOptions& fold);

}  // namespace warpfold::sim
