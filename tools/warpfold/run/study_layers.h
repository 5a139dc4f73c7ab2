#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/layer_run.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// The layers of a study's points. Safe for several threads.
class StudyLayers {
 public:
  // All three outlive it. `settings` hold at every point: fields of the model, gpu.FIELD, or gpu_file, which names another GPU.
  StudyLayers(const configs::Study& study, const configs::Places& places, const std::vector<std::string>& settings)
      : study_(study), places_(places), settings_(settings) {}

  // Of everything that is simulated at the point. Fails where model or GPU is wrong there, at the value of the axis that makes it
  // so.
  Outcome<std::string> key(const Point& point) const;
  // The operators that figures name are in the layer of this point.
  Outcome<void> check_operators(const Point& point) const;
  Outcome<configs::StudyPoint> simulate(const Point& point, const RunOptions& how) const;

 private:
  Outcome<LayerRequest> request_of(const Point& point) const;
  std::string path_of(const Point& point, const std::string& why) const;

  const configs::Study& study_;
  const configs::Places& places_;
  const std::vector<std::string>& settings_;
};

}  // namespace warpfold::cli
