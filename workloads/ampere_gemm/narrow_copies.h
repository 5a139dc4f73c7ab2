#pragma once

#include <vector>

#include "isa/architecture.h"
#include "isa/instruction.h"
#include "workloads/ampere_gemm/plan.h"

namespace warpfold::workloads {

// Replaces each LDGSTS of 16 bytes a thread in a pass of the main loop by copies of plan.thread_bytes. Each of these tests a bit of
// a mask of its own: LOP3, SHF, ISETP. They take stall cycles of the pass's HMMAs, so that the pass needs as many cycles as before,
// if these suffice. HMMAs move in front of LDGDEPBAR and the barrier behind it until all copies have a place, as ptxas orders them.
//
// Source: configs/kernels/operators/copy_gemm.cu, which has CUTLASS's order, compiled by nvcc 13.0 for sm_80. For each k-tile of a
// warp, by tile and elements of a copy:
//
//                    instructions  LDGSTS  LOP3  SHF  ISETP  IADD3  stall cycles  HMMAs before LDGDEPBAR
//   128x128x32, 8             151       8     8    6      9     13           518                21 of 64
//   128x128x32, 4             184      16    16   14     17     18           518                29
//   128x128x32, 2             255      32    32   30     33     22           519                50
//   256x128x64, 8             268      12    12   10     12     15          1033              101 of 128
//   256x128x64, 4             343      24    24   22     24     44          1033               109
//   256x128x64, 2             447      48    48   45     47     54          1033               111
//
// Copies of 2 elements also add one IADD3 for each 16 bytes; the compiled ones add 9 for 8 such pieces and 39 for 12.
std::vector<isa::Instruction> with_narrow_copies(const isa::Architecture& architecture, const AmpereGemmPlan& plan,
                                                 std::vector<isa::Instruction> code);

// The copies in place of one LDGSTS of 16 bytes a thread, with the tests of their masks in front. A warp's lanes lie 16 bytes
// apart, so a copy of any width touches all sectors of the 512 bytes, and four words of shared memory in each bank: four passes.
// The first copy brings the sectors to L1 (CUTLASS copies fewer than 16 bytes by cp.async.ca), where the others find them.
std::vector<isa::Instruction> narrow_copies(const isa::Architecture& architecture, const AmpereGemmPlan& plan,
                                            const isa::Instruction& wide);

}  // namespace warpfold::workloads
