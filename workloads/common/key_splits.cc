#include "workloads/common/key_splits.h"

#include <algorithm>

namespace warpfold::workloads {

uint32_t splits_by_rule(const SplitQuestion& question) {
  constexpr uint64_t kMost = 128;
  constexpr uint64_t kL2 = 50ULL << 20;
  // Most SMs already have a tile. Splitting helps only if a KV head exceeds L2 and is read at least twice.
  if (10 * question.tiles >= 8 * question.sms) {
    const bool walked_again = question.query_tiles >= 2 * question.sms && !question.causal;
    if (question.kv_head_bytes <= kL2 || !walked_again || question.only_shorter) return 1;
    return static_cast<uint32_t>(std::min(kMost, (question.kv_head_bytes + kL2 - 1) / kL2));
  }
  if (question.key_blocks <= 4 && !question.only_shorter) return 1;
  // Otherwise take the fewest parts whose waves fill the SMs at least 0.85 times as well as the best number of parts does.
  struct Filled {
    uint64_t tiles, slots;
    bool reaches(const Filled& other, uint64_t percent) const { return 100 * tiles * other.slots >= percent * other.tiles * slots; }
  };
  const auto filled = [&question](uint64_t splits) {
    const uint64_t tiles = question.tiles * splits;
    return Filled{tiles, (tiles + question.sms - 1) / question.sms * question.sms};
  };
  const uint64_t most = std::min({kMost, question.sms, question.key_blocks});
  Filled best = filled(1);
  const auto counts = [&question](uint64_t splits) {
    const auto longest = [&question](uint64_t parts) { return (question.key_blocks + parts - 1) / parts; };
    return !question.only_shorter || splits == 1 || longest(splits) != longest(splits - 1);
  };
  for (uint64_t splits = 2; splits <= most; ++splits) {
    if (counts(splits) && !best.reaches(filled(splits), 100)) best = filled(splits);
  }
  uint64_t splits = 1;
  while (!counts(splits) || !filled(splits).reaches(best, 85)) ++splits;
  return static_cast<uint32_t>(splits);
}

}  // namespace warpfold::workloads
