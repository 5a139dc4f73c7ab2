// The listener's part of the wgmma unit: which launches' register reads held up an accumulator update.
#include <algorithm>
#include <numeric>

#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

std::vector<uint64_t> WgmmaUnit::port_reads(const Sm& sm) const {
  std::vector<uint64_t> reads;
  reads.reserve(sm.state().sub_cores.size() * static_cast<size_t>(sm.ledger().launches()));
  for (int c = 0; c < sm.sub_cores(); ++c) {
    for (int l = 0; l < sm.ledger().launches(); ++l) reads.push_back(sm.sub_core(c).port_reads(l));
  }
  return reads;
}

void WgmmaUnit::add_port_reads(Sm& sm, uint64_t oldest, const std::vector<uint64_t>& before) {
  const std::vector<uint64_t> reads = port_reads(sm);
  for (uint64_t id = oldest; id < next_start_; ++id) {
    if (!at(id).reads_begun) continue;
    for (size_t l = 0; l < reads.size(); ++l) at(id).reads_before[l] += reads[l] - before[l];
  }
}

// The wait that the reads of its own launch alone would have caused is the launch's own. The remaining wait is due to
// the other launches that read meanwhile, in proportion. The launch that read most takes the remainder of the division:
//
//   12 cycles have 24 slots. Reads of the command's launch take 18 slots and reads of another launch 4. The update wants 6 and
//   finds 2: 4 are missing, which is 2 cycles. Without the other launch none would be missing: both cycles are charged to it.
Cycle WgmmaUnit::wait_for_reads(Sm& sm, const WgmmaCommand& command, Cycle delay) {
  const auto launches = static_cast<size_t>(sm.ledger().launches());
  const auto waited = [&](size_t holder, Cycle cycles) {
    tell(sm, UpdateWaited{command.owner, static_cast<int>(holder), Contended::kRegisterReadPort, cycles});
  };
  std::vector<uint64_t> reads = port_reads(sm);
  std::vector<uint64_t> of_launch(launches, 0);
  Cycle own = 0;
  for (int i = 0; i < width(sm); ++i) {
    const int c = sub_core_of(sm, command, i);
    uint64_t others = 0;
    for (size_t l = 0; l < launches; ++l) {
      if (static_cast<int>(l) == command.owner.launch) continue;
      const size_t row = static_cast<size_t>(c) * launches + l;
      others += reads[row] - command.reads_before[row];
      of_launch[l] += reads[row] - command.reads_before[row];
    }
    own = std::max<Cycle>(own, sm.sub_core(c).ports().missing_without(command.update[i], others));
  }
  waited(static_cast<size_t>(command.owner.launch), own);
  const uint64_t total = std::accumulate(of_launch.begin(), of_launch.end(), uint64_t{0});
  if (own == delay) return 0;
  const auto most = static_cast<size_t>(std::ranges::max_element(of_launch) - of_launch.begin());
  uint64_t left = delay - own;
  for (size_t l = 0; l < launches; ++l) {
    if (l == most) continue;
    const uint64_t share = (delay - own) * of_launch[l] / total;
    waited(l, share);
    left -= share;
  }
  waited(most, left);
  return delay - own;
}

}  // namespace warpfold::sim
