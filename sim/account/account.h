#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/account/accounting.h"
#include "sim/account/delay.h"
#include "sim/account/states.h"
#include "sim/engine/state_visitor.h"

namespace warpfold::sim {

// Work and waits of one launch on one SM, summed over all segments. Every field is a sum that is linear in time.
struct LaunchAccount {
  uint64_t resident_warp_cycles = 0;  // warp-cycles, added when a warp ends; equal to the sum over the warp states of all segments
  uint64_t absent_warp_cycles = 0;    // warp-cycles of absent warps, which would be resident if the launch had the SM to itself
  uint64_t instructions = 0;
  uint64_t requested_bytes = 0;  // bytes requested of L1 and L2, added at issue
  uint64_t served_bytes = 0;     // bytes transferred by L1 or L2
  uint64_t l1_bytes = 0;         // part of served_bytes that hits L1
  uint64_t dram_bytes = 0;
  // Cycles that requests (not warps) waited for a contended resource: memory stage, data stage, L2, DRAM, wgmma pipe,
  // write-backs.
  std::array<uint64_t, kContended> request_waits{};

  bool operator==(const LaunchAccount&) const = default;

  void visit(StateVisitor& visitor) {
    // Lists every field, so that a new field does not compile until this function handles it.
    [[maybe_unused]] const auto& [resident, absent, issued, requested, served, in_l1, dram, waits] = *this;
    for (uint64_t* total :
         {&resident_warp_cycles, &absent_warp_cycles, &instructions, &requested_bytes, &served_bytes, &l1_bytes, &dram_bytes})
      visitor.count(*total);
    visitor.counts(request_waits);
  }
};

// Cycle account of one SM. Each launch has one row for each of its segments (sim/account/segment.h). A row holds the
// warp states and the cycles lost to each launch on each resource. A row has many columns, few of which are ever used.
// A column therefore gets a counter when a cycle is first charged to it, and the order of the counters has no meaning.
// The states of a row get their counters together:
//
//   row      selected wait ... drain | inherited by state | hidden by state | both again, including what the launch itself held |
//            culprit 0: warp waits by resource, request waits by resource, absent warps by resource | culprit 1: ... |
//            resident beside launch 0, beside launch 1, ...
class Account {
 public:
  // `segments`: number of segments of each launch.
  explicit Account(const std::vector<uint32_t>& segments);

  int launches() const { return static_cast<int>(launch_.size()); }
  LaunchAccount& launch(int index) { return launch_[index]; }
  const LaunchAccount& launch(int index) const { return launch_[index]; }
  uint32_t rows() const { return static_cast<uint32_t>(launch_of_.size()); }
  uint32_t row(int launch, uint32_t segment) const { return first_row_[launch] + segment; }
  uint32_t first_row(int launch) const { return first_row_[launch]; }
  uint32_t end_row(int launch) const { return first_row_[launch + 1]; }
  int launch_of(uint32_t row) const { return launch_of_[row]; }

  void spend(uint32_t row, WarpState state, uint64_t cycles) {
    if constexpr (!kAccounting) return;
    if (states_[row] == 0) [[unlikely]]
      make_states(row);
    counters_[states_[row] + static_cast<uint32_t>(state)] += cycles;
  }
  // Charges cycles that warps of the row waited while `culprit` held the resource.
  void charge(uint32_t row, int culprit, Contended resource, uint64_t cycles) {
    add(row, column(culprit, Waiter::kWarp, resource), cycles);
  }
  // Charges cycles that a request of the row waited: once as a wait of the launch and once against the culprit.
  void charge_request(uint32_t row, int culprit, Contended resource, uint64_t cycles) {
    if constexpr (kAccounting) launch_[launch_of_[row]].request_waits[static_cast<int>(resource)] += cycles;
    add(row, column(culprit, Waiter::kRequest, resource), cycles);
  }

  // Records that a wait, already charged to `state`, raised the warp's delay from `from` to that of the warp or request
  // it waited for.
  void inherit(uint32_t row, WarpState state, Delay from, Delay to) {
    if (to.others > from.others) add(row, passed_column(Cause::kOthers, state), to.others - from.others);
    if (to.all > from.all) add(row, passed_column(Cause::kAll, state), to.all - from.all);
  }
  // Records that a late warp waited for a less late one: the part of its delay beyond `to` had no consequence.
  void hide(uint32_t row, WarpState state, Delay from, Delay to) {
    if (to.others < from.others) add(row, kWarpStates + passed_column(Cause::kOthers, state), from.others - to.others);
    if (to.all < from.all) add(row, kWarpStates + passed_column(Cause::kAll, state), from.all - to.all);
  }
  // Charges cycles of warps that were not resident because of a resource that `culprit` held or that was reserved for
  // it.
  void charge_absent(int launch, int culprit, Contended resource, uint64_t cycles) {
    if constexpr (kAccounting) launch_[launch].absent_warp_cycles += cycles;
    add(first_row_[launch], column(culprit, Waiter::kAbsent, resource), cycles);
  }
  // Charges warp-cycles that CTAs of the launch held warp slots while CTAs of `other` were on the same SM. With `other`
  // equal to `launch`: all warp-cycles that its CTAs held warp slots.
  void charge_beside(int launch, int other, uint64_t cycles) { add(first_row_[launch], beside_column(other), cycles); }
  uint64_t beside(int launch, int other) const { return count(first_row_[launch], beside_column(other)); }
  // Marks the account as partly estimated. Waits and their inherited part may then come from separate estimates, so
  // check() does not compare them.
  void set_estimated() { estimated_ = true; }

  enum class Waiter : uint8_t { kWarp, kRequest, kAbsent };
  static constexpr uint32_t kWaiters = 3;
  enum class Cause : uint8_t { kOthers, kAll };  // matches the fields of Delay
  static constexpr uint32_t kCauses = 2;
  uint64_t inherited(uint32_t row, WarpState state, Cause cause) const { return count(row, passed_column(cause, state)); }
  uint64_t hidden(uint32_t row, WarpState state, Cause cause) const {
    return count(row, kWarpStates + passed_column(cause, state));
  }
  uint64_t cycles(uint32_t row, WarpState state) const {
    return states_[row] == 0 ? 0 : counters_[states_[row] + static_cast<uint32_t>(state)];
  }
  uint64_t lost(uint32_t row, int culprit, Waiter waiter, Contended resource) const {
    return count(row, column(culprit, waiter, resource));
  }
  // Sums over all segments of a launch.
  uint64_t cycles_of(int launch, WarpState state) const;
  uint64_t cycles_of(int launch) const;  // sum over all states
  uint64_t lost_of(int victim, int culprit, Waiter waiter, Contended resource) const;

  void visit(StateVisitor& visitor) {
    // Lists every field, so that a new field does not compile until this function handles it. Only launches and
    // counters hold cycles; the other fields locate counters.
    [[maybe_unused]] const auto& [launches, first_rows, launch_of, columns, estimated, states, places, used, counters] = *this;
    for (LaunchAccount& launch : launch_) launch.visit(visitor);
    visitor.charges(std::span(counters_).subspan(1));
  }

  // Compares sums, regardless of the order in which the counters were made.
  bool operator==(const Account& other) const;

  // Throws std::logic_error with the launch's index if the account is inconsistent. States must sum to resident
  // warp-cycles. The ledger must sum to the stalls, request waits and absences that it explains. No more cycles may be
  // inherited than waited. Called at the end of every run, in release builds too.
  void check() const;

 private:
  static constexpr uint32_t kPassedColumns = 2 * kCauses * kWarpStates;
  static uint32_t passed_column(Cause cause, WarpState state) {
    return 2 * kWarpStates * static_cast<uint32_t>(cause) + static_cast<uint32_t>(state);
  }
  static uint32_t column(int culprit, Waiter waiter, Contended resource) {
    return kPassedColumns + (static_cast<uint32_t>(culprit) * kWaiters + static_cast<uint32_t>(waiter)) * kContended +
           static_cast<uint32_t>(resource);
  }
  uint32_t beside_column(int other) const {
    return kPassedColumns + static_cast<uint32_t>(launches()) * kWaiters * kContended + static_cast<uint32_t>(other);
  }
  void add(uint32_t row, uint32_t column, uint64_t cycles) {
    if constexpr (!kAccounting) return;
    uint32_t place = places_[row][column];
    if (place == 0) [[unlikely]] {
      if (cycles == 0) return;
      place = make_place(row, column);
    }
    counters_[place] += cycles;
  }
  uint64_t count(uint32_t row, uint32_t column) const { return counters_[places_[row][column]]; }
  void make_states(uint32_t row);
  uint32_t make_place(uint32_t row, uint32_t column);
  uint64_t charged(int victim, Waiter waiter, Contended resource) const;
  void check_warps(int launch) const;
  void check_inherited(int launch) const;

  std::vector<LaunchAccount> launch_;
  std::vector<uint32_t> first_row_;  // first row of each launch, then the number of rows
  std::vector<int> launch_of_;       // launch of each row
  uint32_t columns_;
  bool estimated_ = false;
  std::vector<uint32_t> states_;  // [row]: index in counters_ of its first state; 0: no counters yet
  // [row][column]: index in counters_. With many launches this table has some hundred thousand words, nearly all 0.
  // Empty rows therefore share one array, and copies of an account share each row until one of them adds a counter to
  // it.
  std::vector<std::shared_ptr<uint32_t[]>> places_;
  std::vector<std::pair<uint32_t, uint32_t>> used_;  // row and column of every non-zero entry of places_
  std::vector<uint64_t> counters_ = {0};             // entry 0 stays 0: columns without a counter read it
};

}  // namespace warpfold::sim
