#pragma once

#include <vector>

#include "traces/import/op.h"

namespace warpfold::sass {

// Marks branches with a slow path, which compilers generate behind a test of the operands, or for a failure:
//
//   a call, in straight-line code, of a subroutine that only computes      square roots, divisions, FP64 reciprocals
//   a trap, or a call of __assertfail or vprintf                           assert, printf
//   the direction of |x| >= 105615                                         range reduction of FP32 sine and cosine
//
// If such a branch depends on data, the slow path is assumed not taken. Must run before calls are inlined.
void mark_slow_paths(std::vector<Op>& ops);

}  // namespace warpfold::sass
