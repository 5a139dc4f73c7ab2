#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/store/claim_chain.h"
#include "tools/warpfold/store/point_log.h"
#include "tools/warpfold/store/presence.h"

namespace warpfold::cli {

// The points of a study: claimed once, recorded whole. Any number of processes may work on the same folder at a time, on machines
// that share it, and none has to know of the others:
//
//   points/*.points                  finished points (PointLog)
//   points/claims/PLAN/              whose turn each point is (ClaimChain); removed when all of a plan's points are there
//   points/claims/PLAN/plan          the keys of its points, one a line, in order
//   points/workers/                  processes at work (Presence)
//
// A plan is a list of points; its name is a hash of their keys. Claims save work and decide nothing: a point that is simulated
// twice comes out the same, and a key stands for the program and everything that was simulated.
class PointStore {
 public:
  static Outcome<std::unique_ptr<PointStore>> open(const std::string& folder);

  // Simulates point i of the plan.
  using Simulate = std::function<Outcome<configs::StudyPoint>(size_t point)>;
  // Called with the number of points that are there, by several threads.
  using Watch = std::function<void(size_t done)>;
  enum class Others { kAwait, kLeave };

  // Writes the plan, so that other processes can work on it by its name.
  Outcome<std::string> write_plan(const std::vector<std::string>& keys) const;
  Outcome<std::vector<std::string>> read_plan(const std::string& plan) const;

  // Returns when every point is there or, with Others::kLeave, when each is there or claimed by another process. The time of a
  // claim is about two seconds by the mean of the points so far, less towards the end.
  Outcome<void> finish(const std::vector<std::string>& keys, unsigned threads, Others others, const Simulate& simulate,
                       const Watch& watch);
  void forget_plan(const std::vector<std::string>& keys) const;

  const PointLog& log() const { return log_; }
  const Presence& presence() const { return *presence_; }

 private:
  class Work;

  PointStore(std::string folder, std::unique_ptr<Presence> presence);
  std::string folder_of(const std::string& plan) const { return folder_ + "/claims/" + plan; }

  std::string folder_;
  std::unique_ptr<Presence> presence_;
  PointLog log_;
};

}  // namespace warpfold::cli
