#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/run_options.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/run/study_subject.h"

namespace warpfold::cli {

// The scenarios of a study's points under its policies.
class StudyScenarios : public StudySubject {
 public:
  explicit StudyScenarios(const StudyRequest& request);

  Outcome<std::string> key(const Point& point) const override;
  // The kernels of a figure must be launched by the policies that the figure names with them.
  Outcome<void> check_figures(const Point& point) const override;
  Outcome<configs::StudyPoint> simulate(const Point& point, const std::string& key) const override;
  Failure failure_at(const Point& point, const std::string& named, const Failure& why) const override;

 private:
  // The study's scenario at one point under one policy.
  struct Variant {
    configs::Scenario scenario;
    configs::Places places;  // positions of the scenario's fields in files
  };

  std::string path_of(const Point& point, const std::string& named) const;
  Outcome<std::vector<Variant>> load(const Point& point) const;
  std::string key_of(const std::vector<Variant>& scenarios) const;
  Outcome<configs::StudyPoint> simulate(const std::vector<Variant>& scenarios) const;

  const configs::Study& study_;
  const configs::Places& places_;
  std::vector<std::string> settings_;
  std::string command_line_;
  RunOptions how_;
  std::string program_;
  std::shared_ptr<sim::RunCache> known_runs() const;

  // Neighbouring points have kernels in common and share a run cache. A new cache begins after this number of points, since each
  // simulation is compared with all runs of the cache. assumed: 200 points, of a few runs each; no result depends on it.
  static constexpr int kPointsOfACache = 200;
  mutable std::mutex mutex_;
  mutable int points_of_cache_ = 0;
  mutable std::shared_ptr<sim::RunCache> known_ = std::make_shared<sim::RunCache>();
};

}  // namespace warpfold::cli
