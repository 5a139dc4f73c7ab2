#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/validation.pb.h"
#include "tools/validation/comparison.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/store/point_log.h"

namespace warpfold::cli {

// The distinct simulations that rows need. Callers first add all points, then run them, then look up each.
class ValidationPoints {
 public:
  // `resume`: the folder of finished points; empty: none are kept.
  ValidationPoints(const RunOptions& how, std::string command_line, const std::string& resume);

  // `alone`: also simulate each kernel alone.
  void add(const validation::Run& run, bool alone);
  Outcome<void> simulate_all();  // all points that have not ended
  // Returns a failure if the scenario cannot be carried out.
  const Outcome<configs::SimulatedPoint>& find(const validation::Run& run, bool alone) const;
  size_t simulated() const;  // number of points that could be carried out

 private:
  struct Point {
    validation::Run run;
    bool alone = false;
    std::string key;
    std::optional<Outcome<configs::SimulatedPoint>> ended{};
  };

  std::string key_of(const validation::Run& run, bool alone) const;
  Outcome<configs::SimulatedPoint> finish(const Point& point) const;
  Outcome<configs::SimulatedPoint> simulate(const Point& point) const;

  RunOptions how_;
  std::string command_line_;
  std::string program_;
  std::unique_ptr<PointLog> log_;  // null: no point is kept
  std::vector<Point> points_;
  std::map<std::string, size_t> index_;  // by key
};

}  // namespace warpfold::cli
