#include "traces/access/shared_wavefronts.h"

#include <algorithm>
#include <array>
#include <span>

namespace warpfold::traces::access {
namespace {

constexpr uint32_t kWordBytes = 4;
constexpr uint32_t kRowBytes = 16;
constexpr int kRowsPerMatrix = 8;

// Returns the passes of lanes [first, last): the largest number of different words in one bank.
uint32_t passes(const LaneAccess& access, int first, int last, uint32_t bytes) {
  std::array<uint64_t, size_t{kLanes} * 5> words;  // a lane touches up to four words, five if unaligned
  size_t count = 0;
  for (int lane = first; lane < last; ++lane) {
    if ((access.mask >> lane & 1) == 0) continue;
    const uint64_t end = access.addresses[lane] + std::max<uint32_t>(bytes, 1) - 1;
    for (uint64_t word = access.addresses[lane] / kWordBytes; word <= end / kWordBytes; ++word) words[count++] = word;
  }
  const auto used = std::span(words).first(count);
  std::ranges::sort(used);
  const auto repeated = std::ranges::unique(used);
  std::array<uint32_t, kBanks> in_bank{};
  uint32_t most = 0;
  for (const uint64_t word : used.first(count - repeated.size())) most = std::max(most, ++in_bank[word % kBanks]);
  return most;
}

}  // namespace

uint32_t shared_wavefronts(const LaneAccess& access) {
  const int groups = access.bytes > 8 ? 4 : access.bytes > 4 ? 2 : 1;
  const uint32_t bytes = std::min<uint32_t>(access.bytes, 16);
  uint32_t sum = 0;
  for (int group = 0; group < groups; ++group) {
    sum += passes(access, group * kLanes / groups, (group + 1) * kLanes / groups, bytes);
  }
  return sum;
}

uint32_t matrix_wavefronts(const LaneAccess& access, uint32_t matrices) {
  uint32_t sum = 0;
  for (int matrix = 0; matrix < static_cast<int>(std::min(matrices, uint32_t{kLanes / kRowsPerMatrix})); ++matrix) {
    sum += passes(access, matrix * kRowsPerMatrix, (matrix + 1) * kRowsPerMatrix, kRowBytes);
  }
  return sum;
}

}  // namespace warpfold::traces::access
