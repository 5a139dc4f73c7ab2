#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "sim/account/segment.h"
#include "sim/sm/program.h"
#include "sim/sm/spec.h"
#include "traces/kernel.h"

namespace warpfold::sim {

// Resources that one CTA occupies on an SM.
struct Footprint {
  uint32_t warps = 0;
  uint32_t registers = 0;      // 32-bit, rounded up to the allocation unit
  uint32_t shared_memory = 0;  // bytes, with the system's share, rounded up
  uint32_t tensor_memory = 0;  // columns
};

// Number of CTAs of a kernel for which one resource of an SM has room.
struct ResidencyLimit {
  std::string resource;  // registers, shared_memory, warp_slots, cta_slots, tensor_memory
  uint32_t ctas = 0;
};

// CTAs of a kernel that has an SM to itself.
struct Occupancy {
  Footprint footprint;
  uint32_t ctas_per_sm = 0;
  std::string limiter;  // resource that bounds ctas_per_sm, as in ResidencyLimit
};

// A kernel compiled for a machine: its roles' programs and its CTA's footprint. All SMs share it.
struct KernelImage : Occupancy {
  const traces::Kernel* kernel = nullptr;
  std::vector<Program> programs;  // per role
  std::vector<Segment> segments;  // in the order of the code; MicroOp::segment indexes them
  std::vector<int> role_of_warp;  // per warp of a CTA
  // Per ring: the first ring of its group. Rings that share a cursor, directly or through other rings, form a group.
  std::vector<int> base_ring;
  std::vector<int> cursor_ring;   // per cursor: base_ring of the rings that it steps through; -1: none
  bool coupled = false;           // warps of a CTA wait for each other: barriers, rings, wgmma, tcgen05, setmaxnreg
  bool meets_in_grid = false;     // CTAs of the launch wait for each other (grid_barrier.h)
  std::vector<bool> waited_once;  // per ring: an instruction without a cursor waits for its first phase
  // Per base ring: all instructions go through the group's rings by cursor, so that no stage differs from another.
  std::vector<bool> rotates;
  std::vector<bool> loop_free;  // per CTA class: no loop has a second trip, so that only whole CTAs can recur
};

// Returns the limit of each resource. Of equal limits, the first one is named as the limiter. A limit of 0 means that a
// CTA can never fit.
std::vector<ResidencyLimit> residency_limits(const Spec& spec, const traces::Kernel& kernel);
// Fails if the kernel is for another architecture than `spec`, or if its CTA can never fit.
Expected<Occupancy> occupancy_of(const Spec& spec, const traces::Kernel& kernel);
// Compiles the kernel, which must outlive the image. Fails if occupancy_of does.
Expected<KernelImage> make_image(const Spec& spec, const traces::Kernel& kernel,
                                 AccountGranularity granularity = AccountGranularity::kByPhase);

}  // namespace warpfold::sim
