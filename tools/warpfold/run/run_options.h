#pragma once

#include <string>

#include "sim/gpu/simulate.h"
#include "sim/memo/fold.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// --fold and --fold-error as given.
struct Folding {
  sim::FoldOptions options;
  bool shadow = false;  // replay everything as well and compare
};

// How simulations are run.
struct RunOptions {
  Folding folding;
  bool all_sms = false;
  sim::AccountGranularity account = sim::AccountGranularity::kByPhase;
  bool timeline = false;  // of runs under policies, not of kernels alone
  bool alone = true;      // simulate each kernel alone too; without it a result has no slowdowns, no `alone`, no reason
  unsigned jobs = 1;      // simulations at a time; no result depends on it
};

// `fold_error`: of --fold-error where it is not given.
void add_run_options(Options& options, const std::string& fold_error = "0.002");
Outcome<RunOptions> run_options(const Options& options);

}  // namespace warpfold::cli
