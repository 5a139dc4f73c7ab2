#include "sim/account/account.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpfold::sim {
namespace {

[[noreturn]] void broken(int launch, const std::string& what, uint64_t left, uint64_t right) {
  throw std::logic_error("account of launch " + std::to_string(launch) + ": " + what + ": " + std::to_string(left) + " against " +
                         std::to_string(right));
}

void expect_equal(int launch, const std::string& what, uint64_t left, uint64_t right) {
  if (left != right) broken(launch, what, left, right);
}

}  // namespace

Account::Account(const std::vector<uint32_t>& segments)
    : launch_(segments.size()), columns_(kPassedColumns + static_cast<uint32_t>(segments.size()) * (kWaiters * kContended + 1)) {
  for (size_t l = 0; l < segments.size(); ++l) {
    first_row_.push_back(rows());
    launch_of_.insert(launch_of_.end(), segments[l], static_cast<int>(l));
  }
  first_row_.push_back(rows());
  states_.assign(rows(), 0);
  places_.assign(rows(), std::make_shared<uint32_t[]>(columns_));
}

uint32_t Account::make_place(uint32_t row, uint32_t column) {
  if (places_[row].use_count() > 1) {
    const auto own = std::make_shared_for_overwrite<uint32_t[]>(columns_);
    std::copy_n(places_[row].get(), columns_, own.get());
    places_[row] = own;
  }
  used_.emplace_back(row, column);
  const auto counter = static_cast<uint32_t>(counters_.size());
  places_[row][column] = counter;
  counters_.push_back(0);
  return counter;
}

void Account::make_states(uint32_t row) {
  states_[row] = static_cast<uint32_t>(counters_.size());
  counters_.resize(counters_.size() + kWarpStates, 0);
}

bool Account::operator==(const Account& other) const {
  if (launch_ != other.launch_ || first_row_ != other.first_row_ || estimated_ != other.estimated_) return false;
  for (uint32_t r = 0; r < rows(); ++r) {
    for (int s = 0; s < kWarpStates; ++s) {
      if (cycles(r, static_cast<WarpState>(s)) != other.cycles(r, static_cast<WarpState>(s))) return false;
    }
  }
  const auto same = [&](const auto& cell) { return count(cell.first, cell.second) == other.count(cell.first, cell.second); };
  return std::ranges::all_of(used_, same) && std::ranges::all_of(other.used_, same);
}

uint64_t Account::cycles_of(int launch, WarpState state) const {
  uint64_t sum = 0;
  for (uint32_t r = first_row(launch); r < end_row(launch); ++r) sum += cycles(r, state);
  return sum;
}

uint64_t Account::cycles_of(int launch) const {
  uint64_t sum = 0;
  for (int s = 0; s < kWarpStates; ++s) sum += cycles_of(launch, static_cast<WarpState>(s));
  return sum;
}

uint64_t Account::lost_of(int victim, int culprit, Waiter waiter, Contended resource) const {
  uint64_t sum = 0;
  for (uint32_t r = first_row(victim); r < end_row(victim); ++r) sum += lost(r, culprit, waiter, resource);
  return sum;
}

uint64_t Account::charged(int victim, Waiter waiter, Contended resource) const {
  uint64_t sum = 0;
  for (int culprit = 0; culprit < launches(); ++culprit) sum += lost_of(victim, culprit, waiter, resource);
  return sum;
}

// Checks the ledger of warps' waits. A wait of a warp for a contended resource has a warp state of its own, so both
// must agree.
void Account::check_warps(int l) const {
  const auto state = [&](WarpState s) { return cycles_of(l, s); };
  const auto waits = [&](Contended r) { return charged(l, Waiter::kWarp, r); };
  uint64_t pipes = waits(Contended::kWgmma) + waits(Contended::kTcgen05);
  for (const configs::PipeRow& row : configs::kMathPipes) pipes += waits(kContendedPipe[static_cast<size_t>(row.pipe)]);
  expect_equal(l, "ledger against not_selected", waits(Contended::kIssueSlot), state(WarpState::kNotSelected));
  expect_equal(l, "ledger against math_pipe_throttle", pipes, state(WarpState::kMathPipeThrottle));
  expect_equal(l, "ledger against dispatch_stall", waits(Contended::kRegisterReadPort) + waits(Contended::kRegisterWritePort),
               state(WarpState::kDispatchStall));
  expect_equal(l, "ledger against mio_throttle and lg_throttle", waits(Contended::kMemoryQueue),
               state(WarpState::kMioThrottle) + state(WarpState::kLgThrottle));
  for (int r = 0; r < kContended; ++r) {
    const auto resource = static_cast<Contended>(r);
    if (resource <= Contended::kRegisterWritePort || resource == Contended::kMemoryQueue) continue;
    expect_equal(l, "waits of warps for " + std::string(contended_name(resource)), waits(resource), 0);
  }
}

void Account::check_inherited(int l) const {
  for (uint32_t r = first_row(l); r < end_row(l); ++r) {
    for (int s = 0; s < kWarpStates; ++s) {
      const auto state = static_cast<WarpState>(s);
      for (const Cause cause : {Cause::kOthers, Cause::kAll}) {
        if (inherited(r, state, cause) > cycles(r, state))
          broken(l, "inherited of " + std::string(state_name(state)), inherited(r, state, cause), cycles(r, state));
      }
    }
  }
}

void Account::check() const {
  for (int l = 0; l < launches(); ++l) {
    const LaunchAccount& launch = launch_[l];
    expect_equal(l, "bytes requested against served", launch.requested_bytes, launch.served_bytes);
    if (!kAccounting) continue;
    expect_equal(l, "states against resident warp-cycles", cycles_of(l), launch.resident_warp_cycles);
    expect_equal(l, "selected cycles against instructions", cycles_of(l, WarpState::kSelected), launch.instructions);
    check_warps(l);
    if (!estimated_) check_inherited(l);
    uint64_t absent = 0;
    for (int r = 0; r < kContended; ++r) {
      const auto resource = static_cast<Contended>(r);
      expect_equal(l, "ledger against request waits for " + std::string(contended_name(resource)),
                   charged(l, Waiter::kRequest, resource), launch.request_waits[r]);
      absent += charged(l, Waiter::kAbsent, resource);
    }
    expect_equal(l, "ledger against absent warps", absent, launch.absent_warp_cycles);
  }
}

}  // namespace warpfold::sim
