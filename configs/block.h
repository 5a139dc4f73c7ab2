#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "configs/model.pb.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"

namespace warpfold::configs {

// Puts the kernels of the scenario's `block` behind its own, for the GPU's architecture, and the policy's defaults under its own;
// takes the block away. `card`: the block's model card, empty where it has none. The first thing wrong with the block, if any.
std::optional<Finding> make_block(const TransformerModel& card, const Gpu& gpu, Scenario& scenario);

}  // namespace warpfold::configs
