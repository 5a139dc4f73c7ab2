#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/layer_run.h"
#include "tools/warpfold/run/run_options.h"
#include "tools/warpfold/run/study_subject.h"

namespace warpfold::cli {

// The layers of a study's points. An axis is a field of the model, gpu.FIELD, `gpu` (a file or a name) or `model`.
class StudyLayers : public StudySubject {
 public:
  // The request must outlive this object.
  explicit StudyLayers(const StudyRequest& request);

  Outcome<std::string> key(const Point& point) const override;
  Outcome<void> check_figures(const Point& point) const override;
  Outcome<configs::StudyPoint> simulate(const Point& point, const std::string& key) const override;
  Failure failure_at(const Point& point, const std::string& named, const Failure& why) const override;

 private:
  Outcome<LayerRequest> request_of(const Point& point) const;
  std::string key_of(const LayerRequest& request) const;
  std::string path_of(const Point& point, const std::string& why) const;

  const configs::Study& study_;
  const configs::Places& places_;
  const std::vector<std::string>& settings_;
  RunOptions how_;
  std::string program_;
};

}  // namespace warpfold::cli
