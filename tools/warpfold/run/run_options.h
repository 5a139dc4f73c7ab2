#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/gpu/simulate.h"
#include "sim/memo/fold.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// --fold, --fold-error and --self-check as given.
struct Folding {
  sim::FoldOptions options;
  bool shadow = false;  // also replay everything, and compare
  // Also replay a sample, and compare: a sample of skips (FoldOptions::check_skips), and whole simulations of at most this many
  // warp instructions in total.
  std::optional<uint64_t> self_check{};
};

// assumed: about a second on one core, which replays 20 to 28 million instructions a second (docs/performance.md). 21 of the 37
// scenarios in configs/ have fewer.
inline constexpr uint64_t kSelfCheckInstructions = 20'000'000;

// Options for running simulations.
struct RunOptions {
  Folding folding;
  bool all_sms = false;
  sim::AccountGranularity account = sim::AccountGranularity::kByPhase;
  bool timeline = false;   // of runs under policies, not of kernels alone
  bool reference = false;  // repeat all simulations by sim::reference, and compare
  bool alone = true;       // simulate each kernel alone too; otherwise a result has no slowdowns, no `alone`, no reason
  unsigned jobs = 1;       // simulations at a time; no result depends on it
  unsigned threads = 1;    // threads for the SMs of one simulation; no result depends on it
};

// `fold_error`: default of --fold-error.
void add_run_options(Options& options, const std::string& fold_error = "0.002");
Outcome<RunOptions> run_options(const Options& options);

}  // namespace warpfold::cli
