#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

// The inputs of a layer, as files or names.
struct LayerInputs {
  std::string model;
  std::string gpu = "h100_sxm";
  std::string kernels = "operators";       // table of the listings that run operators
  std::vector<std::string> settings = {};  // PATH=VALUE of the model, gpu.PATH=VALUE of the GPU
};

// Reads and checks the inputs; fills in the request's model, GPU and listings.
Outcome<void> read_layer_inputs(const LayerInputs& inputs, LayerRequest& request);

}  // namespace warpfold::cli
