#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Philox4x32 keep-bits: a kernel that draws random words, compares them with a threshold and stores one bit per element.
//
// The kernel's loop is compiled code (sass/philox_*.sass). In one pass, a thread makes 32 keep bits and stores them as one 32-bit
// word. The number of Philox calls per pass depends on the bits of the threshold (8 bits: 16 elements per call, 16 bits: 8, 32
// bits: 4). The few instructions before the loop, which compute the thread's number and the round keys, are ours.
Expected<traces::Kernel> make_philox(const configs::Philox& philox, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
