#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/study_points.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A study, with the options for running it.
struct StudyRequest {
  configs::Study study;
  configs::Places places;             // positions of the study's fields
  std::vector<std::string> settings;  // of the subject, at every point
  std::string folder;                 // folder of its output; finished points stay in points/. Empty: none is kept
  std::string command_line;
  RunOptions how;
};

// The objects that a study varies: the scenarios or the layers of its points. Safe for several threads.
class StudySubject {
 public:
  virtual ~StudySubject() = default;

  // Returns a hash of the program and of everything that is simulated at the point. Fails if the subject is invalid there.
  virtual Outcome<std::string> key(const Point& point) const = 0;
  // Fails if the point lacks a kernel or operator that a figure shows.
  virtual Outcome<void> check_figures(const Point& point) const = 0;
  // Simulates a point. A run that cannot be carried out gives a record with a failure. Fails if the point's key is not `key`.
  virtual Outcome<configs::StudyPoint> simulate(const Point& point, const std::string& key) const = 0;
  // Returns the failure with the position in the study that is at fault, if `named`, a diagnostic's file, tells it.
  virtual Failure failure_at(const Point& point, const std::string& named, const Failure& why) const = 0;
};

// Returns the common part of all keys: the program, and its folding options.
std::string key_of_program(const std::string& program, const RunOptions& how);
// Returns the failure of a point whose key has changed since the study began.
std::unexpected<Failure> changed_since(const configs::Study& study, const Point& point);
// Returns the record of a point without runs, with the reason.
configs::StudyPoint failed_point(const Failure& failure);

}  // namespace warpfold::cli
