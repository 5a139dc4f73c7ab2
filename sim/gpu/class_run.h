#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/account/timeline_recorder.h"
#include "sim/gpu/sm_folding.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// SMs that do the same, of which one is simulated for all (SmClass).
struct ClassRun {
  uint64_t sms = 0;                 // those of its twins included
  std::vector<CtaList> ctas;        // per launch
  std::vector<uint32_t> indices{};  // of its SMs, without its twins'
  bool sampled = false;             // as SmClass::sampled
  std::unique_ptr<Sm> sm = nullptr;
  std::unique_ptr<SmFolding> folding = nullptr;  // none: every instruction is replayed
  Cycle next = kNever;
  uint64_t not_replayed = 0;  // of the instructions that its Sm has issued and not skipped: those of the class it has parted from

  // SMs with as many CTAs, which go round some loops more often: the persistent CTAs of a GEMM that have a tile more. The class's
  // Sm does what they do until it is on its last trip of such a loop. What it skips before, they may skip: periods take as many
  // trips.
  struct Twin {
    std::vector<uint32_t> indices;
    std::vector<CtaList> ctas;       // per launch
    std::vector<ClassMap> class_of;  // per launch: what each CTA class of the class's is here

    // Whether a CTA of one class here may be one of another class there.
    bool fits(size_t launch, uint32_t theirs, uint32_t own) const;
    // So many are added to both.
    void add(size_t launch, uint32_t theirs, uint32_t own, uint64_t ctas);
    // The Sm is about to do something else than it would do here.
    bool diverges(const Sm& sm) const;
  };
  std::vector<Twin> twins{};

  uint64_t replayed() const;  // instructions
};

// Whether CTAs of the two classes begin alike, `more` with as many trips of every loop or more: at least two where they differ.
bool begins_alike(const traces::Kernel& kernel, uint32_t less, uint32_t more);

// Some SMs of a class, by their indices, become its twin, the same so far.
ClassRun::Twin& become_twin(ClassRun& class_run, const std::vector<uint32_t>& indices);
// Some SMs of a class, by their indices, become a class of their own, with a copy of its Sm. Returns the new class, the last one.
size_t part_class(std::vector<ClassRun>& class_runs, size_t from, std::vector<uint32_t> indices, const FoldOptions& fold);
// So do its twins that are about to do something else, or all. Returns the new classes.
std::vector<size_t> part_twins(std::vector<ClassRun>& class_runs, size_t from, bool all, const FoldOptions& fold);

}  // namespace warpfold::sim
