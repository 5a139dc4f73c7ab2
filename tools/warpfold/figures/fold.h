#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Fills `result.fold`, the account of how the result was computed. `run` is the run whose folded periods are listed; `alone` holds
// the runs of its kernels alone. A simulation that several runs share counts once.
void fill_fold(const sim::Outcome& run, const std::vector<const sim::Outcome*>& alone, configs::Result& result);

// Compares a folded result with the full replay of the same scenario. Exact folding must give the same bits; bounded folding must
// give cycles within three times its error bound. Fails with exit code 1, a defect of the program, and names the first difference.
// Otherwise returns the largest relative error of a kernel's cycles.
Outcome<double> compare_with_replay(const configs::Result& folded, const configs::Result& replayed);

}  // namespace warpfold::cli
