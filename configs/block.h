#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "configs/model.pb.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"

namespace warpfold::configs {

// Appends the kernels of the scenario's `block`, for the GPU's architecture, and removes the block. Fields that the
// scenario's policy leaves open get the block's defaults. `card` is the block's model card; empty: it has none. Returns
// the first fault of the block.
std::optional<Finding> make_block(const TransformerModel& card, const Gpu& gpu, Scenario& scenario);

}  // namespace warpfold::configs
