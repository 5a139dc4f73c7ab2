#include "workloads/common/key_reuse.h"

#include <algorithm>
#include <cmath>

namespace warpfold::workloads {
namespace {

// assumed: 16 ways, as the L2 of Volta (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018); no
// measurement of Ampere or Hopper is known. More ways make the transition from hits to misses steeper; its midpoint stays at the
// capacity.
constexpr uint32_t kWays = 16;

// Sums of bytes by step (a Fenwick tree).
class BytesByStep {
 public:
  explicit BytesByStep(uint64_t steps) : tree_(steps + 1) {}

  void add(uint64_t step, int64_t bytes) {
    total_ += bytes;
    for (uint64_t i = step + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += bytes;
  }
  uint64_t after(uint64_t step) const {
    int64_t until = 0;
    for (uint64_t i = step + 1; i > 0; i -= i & (~i + 1)) until += tree_[i];
    return static_cast<uint64_t>(total_ - until);
  }

 private:
  std::vector<int64_t> tree_;
  int64_t total_ = 0;
};

class Walker {
 public:
  explicit Walker(const KeyWalks& walks) : walks_(walks), bytes_(most_steps(walks)) {
    uint64_t heads = 0;
    for (const KeyWalk& tile : walks.tiles) {
      heads = std::max(heads, tile.kv_head + 1);
      pieces_ = std::max(pieces_, tile.end);
    }
    last_use_.resize(heads * pieces_, kNever);
  }

  KeyReuse walk() {
    std::vector<KeyWalk> running;
    size_t next = 0;
    for (uint64_t step = 0; next < walks_.tiles.size() || !running.empty(); ++step) {
      while (running.size() < walks_.concurrent && next < walks_.tiles.size()) {
        bytes_.add(step, static_cast<int64_t>(walks_.tile_bytes));
        running.push_back(walks_.tiles[next++]);
      }
      for (KeyWalk& tile : running) {
        if (tile.end > tile.begin) use(tile.kv_head * pieces_ + --tile.end, step);
      }
      std::erase_if(running, [](const KeyWalk& tile) { return tile.end <= tile.begin; });
    }
    return reuse_;
  }

 private:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // Upper bound on the number of steps: no slot idles while tiles remain, so the walk ends after an even share of the work plus the
  // longest tile.
  static uint64_t most_steps(const KeyWalks& walks) {
    uint64_t all = 0;
    uint64_t longest = 1;
    for (const KeyWalk& tile : walks.tiles) {
      const uint64_t steps = std::max<uint64_t>(1, tile.end - tile.begin);
      all += steps;
      longest = std::max(longest, steps);
    }
    return all / walks.concurrent + longest + 1;
  }

  void use(uint64_t piece, uint64_t step) {
    ++reuse_.requested;
    uint64_t& last = last_use_[piece];
    if (last == step) return;
    if (last == kNever) {
      ++reuse_.distinct;
    } else {
      reuse_.read_again += probability_of_miss(bytes_.after(last), walks_.l2_bytes);
      bytes_.add(last, -static_cast<int64_t>(walks_.piece_bytes));
    }
    bytes_.add(step, static_cast<int64_t>(walks_.piece_bytes));
    last = step;
  }

  const KeyWalks& walks_;
  BytesByStep bytes_;  // bytes of pieces and tiles, by the step of their last use
  uint64_t pieces_ = 0;
  std::vector<uint64_t> last_use_;
  KeyReuse reuse_;
};

}  // namespace

double probability_of_miss(uint64_t distance_bytes, uint64_t l2_bytes) {
  const double mean = static_cast<double>(distance_bytes) / static_cast<double>(l2_bytes) * kWays;
  double exactly = std::exp(-mean);  // probability of exactly `lines` lines in the set
  double fewer = 0;
  for (uint32_t lines = 0; lines < kWays; ++lines) {
    fewer += exactly;
    exactly *= mean / (lines + 1);
  }
  return std::max(0.0, 1 - fewer);
}

KeyReuse key_reuse(const KeyWalks& walks) { return Walker(walks).walk(); }

}  // namespace warpfold::workloads
