#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/store/presence.h"

namespace warpfold::cli {

// Positions `begin` to `end` - 1 of a list of points.
struct PointRange {
  size_t begin = 0;
  size_t end = 0;
};

// Assigns the points of a list to processes, through files in a folder that the processes share. Claims form a chain. The name of a
// claim's file is the first point after the previous claim; its text is the end of the claim and the claiming process:
//
//   00000000.0  "1 node7-4121-88120"       the first claim: point 0
//   00000001.0  "25 node8-977-90311"       points 1 to 24
//   00000001.1  "25 node7-4121-88120"      the same points, as far as node8 had not recorded them when it ended
//   00000025.0  ...
//
// link(2) makes a claim; it succeeds in exactly one process, also over NFS. A claim costs one file, whatever its length. Claims
// never change: a claim of the next generation takes over the points of a process that has ended.
class ClaimChain {
 public:
  // `folder` must exist.
  ClaimChain(std::filesystem::path folder, const Presence& presence, size_t points)
      : folder_(std::move(folder)), presence_(presence), points_(points) {}

  // Claims the next unclaimed points and returns them; none if all points are claimed. `end_of` returns the end for a claim that
  // starts at `begin`.
  Outcome<std::optional<PointRange>> next(const std::function<size_t(size_t begin)>& end_of);
  // Takes over the points of an `unfinished` claim whose process has ended and returns them; none if no such claim exists.
  Outcome<std::optional<PointRange>> take_over(const std::function<bool(const PointRange&)>& unfinished);

 private:
  struct Claim {
    size_t end = 0;
    std::string owner{};
    int generation = 0;
  };
  enum class Made { kYes, kThereAlready };

  std::filesystem::path path(size_t begin, int generation) const;
  std::optional<Claim> read(size_t begin, int generation) const;
  Outcome<Made> make(size_t begin, int generation, size_t end) const;

  std::filesystem::path folder_;
  const Presence& presence_;
  size_t points_;
  std::mutex mutex_;
  std::map<size_t, Claim> claims_;  // the claims known so far, by first point
  size_t frontier_ = 0;             // the first point behind all known claims
};

}  // namespace warpfold::cli
