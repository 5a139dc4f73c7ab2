#pragma once

#include "configs/result.pb.h"

namespace warpfold::cli {

// What a varied machine makes of a run, against the machine that is varied.
void fill_variation(const configs::Result& base, const configs::Result& varied, configs::Variation& variation);

// Says why in `variation.reason`: which kernel's time moves most the way the run's does, and where its warps' time went.
void explain(const configs::Result& base, const configs::Result& varied, configs::Variation& variation);

// The resources of which more gains most come first.
void rank_resources(configs::WhatIf& what_if);

}  // namespace warpfold::cli
