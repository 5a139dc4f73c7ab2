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

// What one CTA occupies on an SM.
struct Footprint {
  uint32_t warps = 0;
  uint32_t registers = 0;      // 32-bit, allocation granularity included
  uint32_t shared_memory = 0;  // bytes, granularity and the system's share included
  uint32_t tensor_memory = 0;  // columns
};

// CTAs of a kernel that one resource of an SM has room for.
struct ResidencyLimit {
  std::string resource;  // registers, shared_memory, warp_slots, cta_slots, tensor_memory
  uint32_t ctas = 0;
};

// CTAs of a kernel that has an SM to itself.
struct Occupancy {
  Footprint footprint;
  uint32_t ctas_per_sm = 0;
  std::string limiter;  // what bounds ctas_per_sm: registers, shared_memory, warp_slots, cta_slots
};

// A kernel compiled for a machine: its roles as programs and its CTA's footprint. Shared by all SMs.
struct KernelImage : Occupancy {
  const traces::Kernel* kernel = nullptr;
  std::vector<Program> programs;  // per role
  std::vector<Segment> segments;  // of the code, in its order; MicroOp::segment is an index
  std::vector<int> role_of_warp;  // per warp of a CTA
  std::vector<int> base_ring;     // per ring: the first ring that shares a cursor with it, through others or not; or itself
  std::vector<int> cursor_ring;   // per cursor: the first ring that it is used with, through others or not; -1: none
  bool coupled = false;           // warps of a CTA wait for each other: barriers, rings, wgmma, registers that move
  std::vector<bool> waited_once;  // per ring: an instruction waits for its first phase without a cursor
  std::vector<bool> rotates;  // per base ring: all who use it or those that share its cursors go by one, and no stage is the first
  std::vector<bool> loop_free;  // per CTA class: no warp goes round a loop, so that CTAs are all that comes again
};

// Of each resource, in the order in which the limiter of equal ones is the first; a CTA that can never fit has a limit of 0.
std::vector<ResidencyLimit> residency_limits(const Spec& spec, const traces::Kernel& kernel);
// Fails where the kernel is for another architecture than `spec` or its CTA can never fit.
Expected<Occupancy> occupancy_of(const Spec& spec, const traces::Kernel& kernel);
// Fails where occupancy_of does.
Expected<KernelImage> make_image(const Spec& spec, const traces::Kernel& kernel,
                                 AccountGranularity granularity = AccountGranularity::kByPhase);

}  // namespace warpfold::sim
