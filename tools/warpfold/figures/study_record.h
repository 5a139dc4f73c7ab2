#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"

namespace warpfold::cli {

// Adds the simulation of a study's point under one policy to the point's record.
void add_simulated_run(const configs::Result& result, configs::StudyPoint& record);

// Adds the limiter model of the same point if it knows the scenario's chain, with the interference that the point's simulations
// measured. `results` are those simulations, of the same kernels; `file` is the scenario's.
Expected<void> add_limiter_model(const configs::Scenario& scenario, const std::string& file,
                                 const std::vector<configs::Result>& results, configs::StudyPoint& record);

}  // namespace warpfold::cli
