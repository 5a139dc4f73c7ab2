#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/store/point_log.h"

namespace warpfold::cli {

// The points of a study; each is claimed once and recorded whole. Any number of processes may work on the same folder at a time, on
// machines that share it. No process needs to know of the others:
//
//   points/*.points             finished points (PointLog)
//   points/claims/PLAN          claims of points (PointClaims)
//   points/claims/PLAN.keys     the keys of a plan for other processes, one per line, in order
//
// A plan is a list of points; its name is a hash of their keys. `points/claims` is removed when all points of its plans are
// recorded. A key identifies the program and everything that was simulated. Claims only save work: a point that is simulated twice
// gives the same record.
class PointStore {
 public:
  static Outcome<std::unique_ptr<PointStore>> open(const std::string& folder);

  // Simulates point i of the plan.
  using Simulate = std::function<Outcome<configs::StudyPoint>(size_t point)>;
  // Called with the number of recorded points, from several threads.
  using Watch = std::function<void(size_t done)>;
  enum class Others { kAwait, kLeave };

  // Writes the plan and returns its name, by which other processes can work on it.
  Outcome<std::string> write_plan(const std::vector<std::string>& keys) const;
  Outcome<std::vector<std::string>> read_plan(const std::string& plan) const;

  // Returns when every point is recorded or, with Others::kLeave, when every point is recorded or claimed by another process. A
  // claim takes about half a second, by the mean time of this process's points so far, and less towards the end.
  Outcome<void> finish(const std::vector<std::string>& keys, unsigned threads, Others others, const Simulate& simulate,
                       const Watch& watch);
  void forget_plan(const std::vector<std::string>& keys) const;

  const PointLog& log() const { return log_; }

 private:
  class Work;

  explicit PointStore(const std::string& folder) : claims_(folder + "/claims"), log_(folder) {}

  std::string claims_;  // folder
  PointLog log_;
};

}  // namespace warpfold::cli
