#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// How a result came about. `run`: whose periods are listed; `alone`: of its kernels. What they have in common counts once.
void fill_fold(const sim::Outcome& run, const std::vector<const sim::Outcome*>& alone, configs::Result& result);

// Compares a folded result with the full replay of the same: exact folding must give the same bits, bounded folding cycles within
// three times its bound. A failure is a defect of the program (exit code 1) and names the first difference; else the largest
// relative error of a kernel's cycles.
Outcome<double> compare_with_replay(const configs::Result& folded, const configs::Result& replayed);

}  // namespace warpfold::cli
