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

namespace warpfold::cli {

// A study, and how it is run.
struct StudyRequest {
  configs::Study study;
  configs::Places places;             // of the study
  std::vector<std::string> settings;  // of its scenario, at every point
  std::string folder;                 // of what it writes; finished points stay in points/
  std::string command_line;
  RunOptions how;
};

// The scenarios of a study's points and what simulating them gives. Safe for several threads.
class StudyScenarios {
 public:
  explicit StudyScenarios(const StudyRequest& request);

  // Of the program and of everything that is simulated at the point. Fails where the scenario is wrong there.
  Outcome<std::string> key(const Point& point) const;
  // The kernels that figures show are launched, at this point, by the policies that they name.
  Outcome<void> check_kernels(const Point& point) const;
  // A deadlock, or a policy that cannot be carried out, is a record with a failure. Fails where the point's key is not `key`.
  Outcome<configs::StudyPoint> simulate(const Point& point, const std::string& key) const;
  // With the place of the axis value, or of the scenario's name, that is at fault.
  Failure failure_at(const Point& point, const std::string& named, const Failure& why) const;

 private:
  // The study's scenario at one point under one policy.
  struct Variant {
    configs::Scenario scenario;
    configs::Places places;  // where it was written
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

  // Points that follow each other have kernels in common. A new one begins after some points: it compares with all that it has.
  static constexpr int kPointsOfACache = 200;
  mutable std::mutex mutex_;
  mutable int points_of_cache_ = 0;
  mutable std::shared_ptr<sim::RunCache> known_ = std::make_shared<sim::RunCache>();
};

}  // namespace warpfold::cli
