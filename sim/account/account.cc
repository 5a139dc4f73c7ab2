#include "sim/account/account.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace warpfold::sim {
namespace {

[[noreturn]] void broken(int launch, const std::string& what, uint64_t left, uint64_t right) {
  throw std::logic_error("account of launch " + std::to_string(launch) + ": " + what + ": " + std::to_string(left) + " against " +
                         std::to_string(right));
}

}  // namespace

uint64_t Account::charged(int victim, Contended resource) const {
  uint64_t sum = 0;
  for (int culprit = 0; culprit < launches_; ++culprit) sum += ledger(victim, culprit)[static_cast<int>(resource)];
  return sum - launch_[victim].request_waits[static_cast<int>(resource)];
}

void Account::check() const {
  for (int l = 0; l < launches_; ++l) {
    const auto& states = launch_[l].states;
    const auto state = [&](WarpState s) { return states[static_cast<int>(s)]; };
    const uint64_t total = std::accumulate(states.begin(), states.end(), uint64_t{0});
    if (total != launch_[l].resident_warp_cycles)
      broken(l, "states against resident warp-cycles", total, launch_[l].resident_warp_cycles);
    if (state(WarpState::kSelected) != launch_[l].instructions)
      broken(l, "selected cycles against instructions", state(WarpState::kSelected), launch_[l].instructions);
    if (charged(l, Contended::kIssueSlot) != state(WarpState::kNotSelected))
      broken(l, "ledger against not_selected", charged(l, Contended::kIssueSlot), state(WarpState::kNotSelected));
    uint64_t pipes = charged(l, Contended::kWgmma);
    for (int r = static_cast<int>(Contended::kAlu); r <= static_cast<int>(Contended::kFp16); ++r)
      pipes += charged(l, static_cast<Contended>(r));
    if (pipes != state(WarpState::kMathPipeThrottle))
      broken(l, "ledger against math_pipe_throttle", pipes, state(WarpState::kMathPipeThrottle));
    if (charged(l, Contended::kRegisterReadPort) != state(WarpState::kDispatchStall))
      broken(l, "ledger against dispatch_stall", charged(l, Contended::kRegisterReadPort), state(WarpState::kDispatchStall));
    const uint64_t queue = state(WarpState::kMioThrottle) + state(WarpState::kLgThrottle);
    if (charged(l, Contended::kMemoryQueue) != queue)
      broken(l, "ledger against mio_throttle and lg_throttle", charged(l, Contended::kMemoryQueue), queue);
    for (Contended r : {Contended::kSharedMemory, Contended::kRegisterWritePort}) {
      if (charged(l, r) != 0) broken(l, "ledger against request waits of " + std::string(contended_name(r)), charged(l, r), 0);
    }
    if (launch_[l].l2_requested_bytes != launch_[l].l2_served_bytes)
      broken(l, "bytes requested against served", launch_[l].l2_requested_bytes, launch_[l].l2_served_bytes);
  }
}

}  // namespace warpfold::sim
