#pragma once

#include <deque>
#include <map>
#include <set>

#include "traces/import/flow.h"
#include "traces/import/limits.h"
#include "traces/import/path.h"
#include "traces/import/touch.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// A loop has too many passes to be followed one by one.
struct EndlessLoop {
  int op;
};

// Follows one warp through the function.
//
// Blocks of a loop, and of the function outside loops, run in the order of their ranks, each with all lanes that reach
// it. Lanes that took different paths meet again where the paths do, at a BSYNC, which each group of them issues.
//
// A loop runs pass by pass until the registers move by equal amounts from pass to pass, or between groups of up to 16
// passes (rings of buffers). One such group is then executed with the registers as linear functions of the number of
// groups. Each decision in it holds for some number of groups, and these are skipped: the path repeats, and the
// registers after it are known. Passes with a decision that depends on a value that moves otherwise, or without linear
// movement, are followed one by one.
class Follower {
 public:
  Follower(const std::vector<Op>& ops, const Flow& flow, Warp& warp, const std::set<int>& literal_loops, const Limits& limits)
      : ops_(ops), flow_(flow), warp_(warp), literal_(literal_loops), limits_(limits) {}

  // Returns the warp's path from the first instruction to its end. Throws UnknownValue, NotLinear or EndlessLoop.
  Path follow(uint32_t mask);
  std::vector<Touch> take_touches() { return std::move(touches_); }
  uint64_t executed() const { return executed_; }

 private:
  // Lanes that reach a block, and the number of groups in which they took different paths.
  struct Arrival {
    uint32_t lanes = 0;
    uint32_t groups = 0;

    void add(const Arrival& other) {
      lanes |= other.lanes;
      groups += other.groups;
    }
  };
  using Arrivals = std::map<int, Arrival>;  // by block
  struct Lanes {
    Arrivals left;      // lanes that leave the region
    uint32_t back = 0;  // lanes that return to the header
  };
  struct Snapshot {
    WarpState state;
    uint32_t mask;
  };
  // Group of passes that repeats.
  struct Fold {
    std::vector<Path> bodies;
    uint64_t groups = 0;
    WarpState after;
    std::vector<Touch> touches;
    Extents extents;
    uint64_t steps = 0;  // instructions of a group
  };

  Lanes run_region(int loop, int entry, uint32_t mask, Path& path);
  void run_block(const FlowBlock& block, const Arrival& arrived, Path& path, Arrivals& next);
  void finish_block(const Op& op, const FlowBlock& block, uint32_t mask, Path& path, Arrivals& next);
  void jump_by_register(const Op& op, uint32_t mask, Arrivals& next);
  int run_in_turn(int warpsync, int end, uint32_t mask, Path& path);
  Arrivals run_loop(int loop, uint32_t mask, Path& path);
  bool try_fold(int loop, uint32_t mask, const std::deque<Snapshot>& history, Path& path);
  bool fold(int loop, uint32_t mask, const WarpState& two_before, const WarpState& before, size_t period, Fold& result);
  void execute(const Op& op, uint32_t mask, Path& path);
  void issue(const Step& step, Path& path);
  void compute(const Op& op, uint32_t active);
  void forget_results(const Op& op, const Bits& guard, uint32_t mask);
  void vary_results(const Op& op, const LaneSets& varying, uint32_t mask);

  const std::vector<Op>& ops_;
  const Flow& flow_;
  Warp& warp_;
  const std::set<int>& literal_;
  const Limits& limits_;
  int folding_ = 0;  // surrounding loops that are being folded
  std::vector<Touch> touches_;
  uint64_t executed_ = 0;
  uint64_t issued_ = 0;  // by the warp, including skipped passes
};

}  // namespace warpfold::sass
