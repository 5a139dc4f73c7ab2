#pragma once

#include "configs/result.pb.h"

namespace warpfold::cli {

// Fills in the difference that a varied machine makes to a run, against the machine before the change.
void fill_variation(const configs::Result& base, const configs::Result& varied, configs::Variation& variation);

// Fills in `variation.reason`: the kernel whose time moves most in the direction of the run's time, and where its warps' time went.
void explain(const configs::Result& base, const configs::Result& varied, configs::Variation& variation);

// Sorts resources by the gain from more of them, largest first.
void rank_resources(configs::WhatIf& what_if);

}  // namespace warpfold::cli
