#pragma once

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/warpfold/run/validation_run.h"

namespace warpfold::cli {

// Rows of the files, each simulated as `warpfold validate --fold-error 0.05` does; the source tree becomes the current folder.
// `rows`: their ids; empty: all.
inline configs::Validation validated(std::vector<std::string> data, std::set<std::string> rows = {}) {
  std::filesystem::current_path(WARPFOLD_SOURCE_DIR);
  ValidationRequest request;
  request.data = std::move(data);
  request.only_rows = std::move(rows);
  request.gpus = "configs/gpus";
  request.how.jobs = 2;
  request.how.folding.options.error = 0.05;
  auto made = run_validation(request);
  if (!made) throw std::logic_error(made.error().text);
  return std::move(*made);
}

}  // namespace warpfold::cli
