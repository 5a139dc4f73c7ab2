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

// Which process simulates which points of a list, kept in a folder that the processes share. Claims form a chain: each is a file
// that is named after the first point that the claims before it have left, and says up to where it goes and whose it is:
//
//   00000000.0  "1 node7-4121-88120"       the first claim: point 0
//   00000001.0  "25 node8-977-90311"       points 1 to 24
//   00000001.1  "25 node7-4121-88120"      of them, those that node8 had not recorded when it ended
//   00000025.0  ...
//
// A claim is made by link(2), which fails for all processes but one, over NFS too. A claim costs one file, whatever its length. No
// claim is ever changed: those of a process that has ended are taken over by one of the next generation.
class ClaimChain {
 public:
  // The folder is there.
  ClaimChain(std::filesystem::path folder, const Presence& presence, size_t points)
      : folder_(std::move(folder)), presence_(presence), points_(points) {}

  // The next points that no process has claimed; none: all are claimed. `end_of`: how far a claim from `begin` is to go.
  Outcome<std::optional<PointRange>> next(const std::function<size_t(size_t begin)>& end_of);
  // Points that a process claimed that has ended, of a claim that is `unfinished`.
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
  std::map<size_t, Claim> claims_;  // by first point, as far as they are known
  size_t frontier_ = 0;             // the first point behind them
};

}  // namespace warpfold::cli
