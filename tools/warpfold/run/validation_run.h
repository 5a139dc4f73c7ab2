#pragma once

#include <set>
#include <string>
#include <vector>

#include "configs/validation.pb.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// A validation against rows of measurements.
struct ValidationRequest {
  std::vector<std::string> data;      // CSV files
  std::string gpus;                   // the folder of GPU files
  std::string only_gpu;               // part of the GPU's name; empty: all
  std::string only_kernel;            // part of the row's family or kernel; empty: all
  std::set<std::string> only_rows;    // ids; empty: all
  std::vector<std::string> settings;  // of the GPU, for every row
  std::string resume;                 // folder of finished simulations; empty: none are kept
  std::string command_line;
  RunOptions how;
};

// Returns every row with its simulation, or with the reason for having none, in the order of the files; then errors by group. Equal
// simulations run once. All files are checked before the first simulation. An id of `only_rows` that no row has is a mistake.
Outcome<configs::Validation> run_validation(const ValidationRequest& request);

}  // namespace warpfold::cli
