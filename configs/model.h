#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/model.pb.h"
#include "configs/places.h"

namespace warpfold::configs {

// Reads a model, a file or one of the configurations' models by name: `base:` chain, then `settings`, "PATH=VALUE" each (batch=4),
// then checks. What has a default is filled in. Operators of a list are checked when their graph is made
// (workloads/layer/listed.h): `places` is given where everything was written.
Expected<TransformerModel> load_model(const std::string& named, const std::vector<std::string>& settings, Places* places = nullptr);

// Fills in what has a default. Returns the first thing wrong: sizes that do not divide, options that exclude each other.
std::optional<Finding> settle_model(TransformerModel& model);

}  // namespace warpfold::configs
