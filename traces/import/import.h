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

// What was found besides the kernel, for a table.
struct ArrayReport {
  std::string name;
  uint64_t bytes = 0;
  uint64_t touched = 0;    // of it
  uint64_t requested = 0;  // by all accesses
  uint64_t in_l1 = 0;      // of what is requested, L1 has it
  uint64_t dram = 0;       // of the rest, that comes from DRAM or is written back to it
  bool written = false;
  bool linear = true;  // its addresses in the CTA and in passes, everywhere, if a GPU was named
};
struct ImportReport {
  std::vector<std::string> assumed;  // a line each: what neither the listing nor the launch description says
  std::string function;
  bool control_codes = false;  // the listing's own; else assigned
  uint64_t followed_ctas = 0;
  uint64_t executed = 0;  // instructions that the importer executed
  // Of a launch of which a sample of CTAs was executed: CTAs drawn, CTAs that they represent, and by how much the sum of warp
  // instructions may be off, as a share of it (95 % confidence).
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

// Options of an import, and the assumptions that the user states.
struct ImportOptions {
  std::vector<std::string>* questions = nullptr;  // takes all questions, a line each, where the import fails at one
  std::vector<AssumedOpcode> assume = {};         // opcodes that no table has
  ExploreProgress progress = {};                  // is told of every CTA that was executed
  bool trust_addresses = false;                   // arrays are as large as the accesses need, where these leave the stated sizes
};

// The kernel that a function of a SASS listing is when it is launched as described. No GPU takes part: integer, predicate, uniform
// and control instructions are executed for every warp; loaded data and most floating point are unknown, and what hangs on them is
// asked for (answers of the launch description). The result is checked as every trace is.
//
// Arrays are streams, one for each of loads, loads past L1 and stores. With `caches`, shares of hits follow from reuse
// (launch_reuse.h). Without, and where all that the launch touches fits into L2, the share from DRAM is what is touched at all of
// what is requested: each byte comes once, later accesses hit in L2.
Expected<Imported> import_listing(const std::string& file, std::string_view text, const configs::KernelLaunch& launch,
                                  const configs::Places& places, const access::CachesFor& caches = {}, const Limits& limits = {},
                                  const ImportOptions& options = {});

}  // namespace warpfold::sass
