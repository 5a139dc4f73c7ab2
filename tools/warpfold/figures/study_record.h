#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"

namespace warpfold::cli {

// A simulation of a study's point under one policy, as the study keeps it.
void add_simulated_run(const configs::Result& result, configs::StudyPoint& record);

// The limiter model of the same point, for chains that it knows, with the interference that its simulations (`results`, of the same
// kernels) have shown. `file` is the scenario's.
Expected<void> add_limiter_model(const configs::Scenario& scenario, const std::string& file,
                                 const std::vector<configs::Result>& results, configs::StudyPoint& record);

}  // namespace warpfold::cli
