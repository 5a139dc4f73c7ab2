#pragma once

#include "configs/diagnostic.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/run/tile_tuner.h"
#include "workloads/policies/policy.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

// A scenario and the plan that its policy makes of it.
struct Planned {
  configs::Scenario scenario;
  policies::Plan plan;
  configs::TileChoices choices{};  // of GEMMs with tile AUTO, which `scenario` has as the kernels taken
};

// The scenario under the policy that it names. `kernels` are made for its file; `places` says where it was written. `tuner`
// remembers what it took; without one each call tunes anew. Fails where the policy cannot be carried out or a CTA can never start.
Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places = {});
Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places,
                                TileTuner& tuner);

}  // namespace warpfold::cli
