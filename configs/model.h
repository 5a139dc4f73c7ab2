#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/model.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// Reads a model, a file or one of the configurations' models by name: `base:` chain, then `settings`, "PATH=VALUE" each (batch=4),
// then checks. What has a default is filled in.
Expected<TransformerModel> load_model(const std::string& named, const std::vector<std::string>& settings);

// The first thing wrong with a model: sizes that do not divide, options that exclude each other.
std::optional<Finding> find_model_fault(const TransformerModel& model);

}  // namespace warpfold::configs
