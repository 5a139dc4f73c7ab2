#pragma once

#include "configs/diagnostic.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/run/tile_tuner.h"
#include "workloads/policies/policy.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

// A scenario with the launch plan that its policy makes.
struct Planned {
  configs::Scenario scenario;
  policies::Plan plan;
  configs::TileChoices choices{};  // kernels chosen for GEMMs with `tile: AUTO`; `scenario` already contains them
};

// Plans the scenario under the policy that it names. `kernels` must be made for the scenario's file; `places` has the positions of
// its fields in files. `tuner` remembers its choices; without a tuner, each call tunes anew. Fails if the policy cannot be carried
// out or a CTA can never start.
Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places = {});
Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places,
                                TileTuner& tuner);

}  // namespace warpfold::cli
