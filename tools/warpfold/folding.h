#pragma once

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "sim/memo/fold.h"
#include "tools/warpfold/options.h"

namespace warpfold::cli {

// --fold and --fold-error as given.
struct Folding {
  sim::FoldOptions options;
  bool shadow = false;  // replay everything as well and compare
};

// `error`: of --fold-error where it is not given.
void add_fold_options(Options& options, const std::string& error);
Outcome<Folding> fold_options(const Options& options);

// `run`: whose periods are listed; `alone`: of its kernels. What they have in common counts once.
void fill_fold(const sim::Outcome& run, const std::vector<const sim::Outcome*>& alone, configs::Result& result);
// One line for people: how the result came about and how far it may be off.
std::string fold_line(const configs::Result& result);

// Compares a folded result with the full replay of the same: exact folding must give the same bits, bounded folding cycles within
// three times its bound. A failure is a defect of the program (exit code 1) and names the first difference; else the largest
// relative error of a kernel's cycles.
Outcome<double> compare_with_replay(const configs::Result& folded, const configs::Result& replayed);

}  // namespace warpfold::cli
