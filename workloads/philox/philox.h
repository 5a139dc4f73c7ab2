#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Philox4x32 keep-bits: a kernel that draws random words, compares them with a threshold and stores one bit an element.
//
// Its loop is compiled code (sass/philox_*.sass): one pass of a thread makes 32 keep bits, one 32-bit store, from as many Philox
// calls as the threshold needs random bits (8 bits: 16 elements a call, 16 bits: 8, 32 bits: 4). The few instructions in front
// of the loop, which number the thread and derive the round keys, are ours.
Expected<traces::Kernel> make_philox(const configs::Philox& philox, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
