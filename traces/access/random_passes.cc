#include "traces/access/random_passes.h"

#include <algorithm>
#include <vector>

#include "traces/access/lane_access.h"
#include "traces/access/shared_wavefronts.h"

namespace warpfold::traces::access {
namespace {

// Returns the probability that no bank has more than `most` of the words. Among all distributions of `words` over
// `banks`, the share with at most `most` per bank is words! / banks^words times the coefficient of x^words in (sum of
// x^i / i!, i up to most)^banks.
double at_most(uint32_t words, uint32_t banks, uint32_t most) {
  std::vector<double> ways(words + 1, 0);
  ways[0] = 1;
  for (uint32_t bank = 0; bank < banks; ++bank) {
    std::vector<double> further(words + 1, 0);
    for (uint32_t dealt = 0; dealt <= words; ++dealt) {
      double term = ways[dealt];
      for (uint32_t i = 0; i <= most && dealt + i <= words; ++i) {
        further[dealt + i] += term;
        term /= i + 1;
      }
    }
    ways = std::move(further);
  }
  double probability = ways[words];
  for (uint32_t i = 1; i <= words; ++i) probability *= static_cast<double>(i) / banks;
  return probability;
}

double fullest_bank(uint32_t words, uint32_t banks) {
  double mean = 0;
  for (uint32_t most = 0; most < words; ++most) mean += 1 - at_most(words, banks, most);
  return mean;
}

}  // namespace

double random_passes(uint32_t lanes, uint32_t bytes) {
  const uint32_t groups = bytes > 8 ? 4 : bytes > 4 ? 2 : 1;
  const uint32_t most = kLanes / groups;
  double sum = 0;
  for (uint32_t group = 0; group < groups; ++group) {
    const uint32_t words = std::min(most, lanes - std::min(lanes, group * most));
    sum += fullest_bank(words, kBanks / groups);
  }
  return sum;
}

}  // namespace warpfold::traces::access
