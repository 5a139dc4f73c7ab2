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
  bool shadow = false;  // replay everything as well and compare
  // Replay a sample as well and compare: of skips (FoldOptions::check_skips), and whole simulations of so many warp instructions
  // together.
  std::optional<uint64_t> self_check{};
};

// assumed: about a second on one core, which replays 20 to 28 million a second (docs/performance.md); 21 of the 37 scenarios in
// configs/ have fewer.
inline constexpr uint64_t kSelfCheckInstructions = 20'000'000;

// How simulations are run.
struct RunOptions {
  Folding folding;
  bool all_sms = false;
  sim::AccountGranularity account = sim::AccountGranularity::kByPhase;
  bool timeline = false;   // of runs under policies, not of kernels alone
  bool reference = false;  // simulate all again by sim::reference, and compare
  bool alone = true;       // simulate each kernel alone too; without it a result has no slowdowns, no `alone`, no reason
  unsigned jobs = 1;       // simulations at a time; no result depends on it
  unsigned threads = 1;    // that run the SMs of one simulation; no result depends on it
};

// `fold_error`: of --fold-error where it is not given.
void add_run_options(Options& options, const std::string& fold_error = "0.002");
Outcome<RunOptions> run_options(const Options& options);

}  // namespace warpfold::cli
