#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/model.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// Reads a model: a file, or one of the configurations' models by name. It merges the `base:` chain, then `settings`,
// "PATH=VALUE" each (batch=4). Then it fills in defaults and checks the model. Listed operators are checked when their
// graph is made (workloads/layer/listed.h); `places` receives the place of every value for this.
Expected<TransformerModel> load_model(const std::string& named, const std::vector<std::string>& settings, Places* places = nullptr);

// Fills in defaults. Returns the first fault: sizes that do not divide, options that exclude each other.
std::optional<Finding> settle_model(TransformerModel& model);

}  // namespace warpfold::configs
