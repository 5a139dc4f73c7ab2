#pragma once

#include <vector>

#include "traces/import/op.h"

namespace warpfold::sass {

// Marks the branches one way of which is a slow path that compilers put behind a test of the operands, or a failure:
//
//   a call, in straight-line code, of a subroutine that only computes      square roots, divisions, FP64 reciprocals
//   a trap, or a call of __assertfail or vprintf                           assert, printf
//   the way of |x| >= 105615                                               range reduction of FP32 sine and cosine
//
// Where the branch hangs on data, that way is assumed not to be taken. Runs before calls are inlined.
void mark_slow_paths(std::vector<Op>& ops);

}  // namespace warpfold::sass
