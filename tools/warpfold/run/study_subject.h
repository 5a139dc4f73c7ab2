#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A study, and how it is run.
struct StudyRequest {
  configs::Study study;
  configs::Places places;             // of the study
  std::vector<std::string> settings;  // of its subject, at every point
  std::string folder;                 // of what it writes; finished points stay in points/
  std::string command_line;
  RunOptions how;
};

// What a study varies: the scenarios of its points, or their layers. Safe for several threads.
class StudySubject {
 public:
  virtual ~StudySubject() = default;

  // Of the program and of everything that is simulated at the point. Fails where the subject is wrong there.
  virtual Outcome<std::string> key(const Point& point) const = 0;
  // The kernels or operators that figures show are there at this point.
  virtual Outcome<void> check_figures(const Point& point) const = 0;
  // A run that cannot be carried out at this point is a record with a failure. Fails where the point's key is not `key`.
  virtual Outcome<configs::StudyPoint> simulate(const Point& point, const std::string& key) const = 0;
  // With the place in the study that is at fault, where `named`, a diagnostic's file, says so.
  virtual Failure failure_at(const Point& point, const std::string& named, const Failure& why) const = 0;
};

// What all keys have in common: the program, and how its simulations fold.
std::string key_of_program(const std::string& program, const RunOptions& how);
// Of a point whose key is no longer the one that it had when the study began.
std::unexpected<Failure> changed_since(const configs::Study& study, const Point& point);
// Why a point has no runs, as its record.
configs::StudyPoint failed_point(const Failure& failure);

}  // namespace warpfold::cli
