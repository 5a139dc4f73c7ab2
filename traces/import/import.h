#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/kernel_launch.pb.h"
#include "configs/places.h"
#include "traces/import/assumed_opcodes.h"
#include "traces/import/explore.h"
#include "traces/import/launch_reuse.h"
#include "traces/import/limits.h"
#include "traces/kernel.h"

namespace warpfold::sass {

// Result of the import for one array, for a table.
struct ArrayReport {
  std::string name;
  uint64_t bytes = 0;
  uint64_t touched = 0;    // bytes that are touched
  uint64_t requested = 0;  // bytes of all accesses
  uint64_t in_l1 = 0;      // part of requested that hits L1
  uint64_t dram = 0;       // part of the other bytes that DRAM reads or writes
  bool written = false;
  bool linear = true;  // all addresses are linear in the CTA and in passes; known if a GPU was named
};
struct ImportReport {
  std::vector<std::string> assumed;  // assumptions, one line each: facts that neither the listing nor the launch description states
  std::string function;
  bool control_codes = false;  // from the listing; false: assigned
  uint64_t followed_ctas = 0;
  uint64_t executed = 0;  // instructions that the importer executed
  // If a sample of CTAs was executed: drawn CTAs, CTAs that they represent, and the possible error of the sum of warp
  // instructions, relative to the sum (95 % confidence).
  uint64_t drawn_ctas = 0;
  uint64_t sampled_ctas = 0;
  double instructions_error = 0;
  std::vector<ArrayReport> arrays;
  Followed l1;
  Followed l2;
};
struct Imported {
  traces::Kernel kernel;
  ImportReport report;
};

// Options of an import, and assumptions that the user states.
struct ImportOptions {
  std::vector<std::string>* questions = nullptr;  // if the import fails at a question, receives all questions, one line each
  std::vector<AssumedOpcode> assume = {};         // opcodes that no table has
  ExploreProgress progress = {};                  // called after every executed CTA
  bool trust_addresses = false;                   // if accesses leave an array's stated size, the array grows to contain them
};

// Imports a function of a SASS listing as the kernel that the launch description launches. No GPU is needed. Integer,
// predicate, uniform and control instructions are executed for every warp. Loaded data and most floating point are
// unknown. The launch description must answer for unknown values on which a path depends. The result is validated like
// every trace.
//
// Each array becomes up to three streams: loads, loads past L1, and stores. With `caches`, hit shares come from a reuse
// analysis (launch_reuse.h). Without `caches`, or if everything that the launch touches fits into L2, the DRAM share is
// touched bytes over requested bytes: each byte comes from DRAM once, and later accesses hit in L2.
Expected<Imported> import_listing(const std::string& file, std::string_view text, const configs::KernelLaunch& launch,
                                  const configs::Places& places, const access::CachesFor& caches = {}, const Limits& limits = {},
                                  const ImportOptions& options = {});

}  // namespace warpfold::sass
