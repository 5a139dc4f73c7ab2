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

// What one launch did on one SM, all segments together. Only sums, linear in time.
struct LaunchAccount {
  uint64_t resident_warp_cycles = 0;  // counted where warps end; the states of all its segments sum to it
  uint64_t absent_warp_cycles = 0;    // of warps that would be resident if the launch had the SM to itself
  uint64_t instructions = 0;
  uint64_t requested_bytes = 0;  // of L1, and where it has not got them of L2
  uint64_t served_bytes = 0;     // by L1 or L2
  uint64_t l1_bytes = 0;         // of them, by L1
  uint64_t dram_bytes = 0;
  // Waits of requests (not of warps) for a contended resource: memory stage, data stage, L2, DRAM, wgmma pipe, write-backs.
  std::array<uint64_t, kContended> request_waits{};

  bool operator==(const LaunchAccount&) const = default;

  void visit(StateVisitor& visitor) {
    // Every field.
    [[maybe_unused]] const auto& [resident, absent, issued, requested, served, in_l1, dram, waits] = *this;
    for (uint64_t* total :
         {&resident_warp_cycles, &absent_warp_cycles, &instructions, &requested_bytes, &served_bytes, &l1_bytes, &dram_bytes})
      visitor.count(*total);
    visitor.counts(request_waits);
  }
};

// The account of one SM. Every launch has a row for each of its segments (sim/account/segment.h): the warp states, and what was
// lost to each launch on each resource. Few of the places in a row are ever used, so that a place gets a counter when something is
// first charged to it, in an order of no meaning; the states of a row get theirs together:
//
//   row      selected wait ... drain | inherited of each | hidden in each | the same two, what the launch itself held included |
//            culprit 0: warps' waits by resource, requests' waits by resource, warps that are not there | culprit 1: ... |
//            resident beside launch 0, beside launch 1, ...
class Account {
 public:
  // `segments`: how many each launch has.
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
  // Warps of the row waited while `culprit` held the resource.
  void charge(uint32_t row, int culprit, Contended resource, uint64_t cycles) {
    add(row, column(culprit, Waiter::kWarp, resource), cycles);
  }
  // A request of the row waited: counted once as a wait and once against the culprit.
  void charge_request(uint32_t row, int culprit, Contended resource, uint64_t cycles) {
    if constexpr (kAccounting) launch_[launch_of_[row]].request_waits[static_cast<int>(resource)] += cycles;
    add(row, column(culprit, Waiter::kRequest, resource), cycles);
  }

  // Of a wait that has been spent: it was for a warp or request that is later than its own warp, which is as late from then on.
  void inherit(uint32_t row, WarpState state, Delay from, Delay to) {
    if (to.others > from.others) add(row, passed_column(Cause::kOthers, state), to.others - from.others);
    if (to.all > from.all) add(row, passed_column(Cause::kAll, state), to.all - from.all);
  }
  // A late warp needed one that was less so: that much of its lateness was of no consequence.
  void hide(uint32_t row, WarpState state, Delay from, Delay to) {
    if (to.others < from.others) add(row, kWarpStates + passed_column(Cause::kOthers, state), from.others - to.others);
    if (to.all < from.all) add(row, kWarpStates + passed_column(Cause::kAll, state), from.all - to.all);
  }
  // Warps of the launch were not resident because of what `culprit` held or was kept for it.
  void charge_absent(int launch, int culprit, Contended resource, uint64_t cycles) {
    if constexpr (kAccounting) launch_[launch].absent_warp_cycles += cycles;
    add(first_row_[launch], column(culprit, Waiter::kAbsent, resource), cycles);
  }
  // CTAs of the launch held warp slots while CTAs of `other` were on the same SM; beside itself: in all.
  void charge_beside(int launch, int other, uint64_t cycles) { add(first_row_[launch], beside_column(other), cycles); }
  uint64_t beside(int launch, int other) const { return count(first_row_[launch], beside_column(other)); }
  // Some of what follows was estimated: a wait and what was inherited of it may have been counted apart.
  void set_estimated() { estimated_ = true; }

  enum class Waiter : uint8_t { kWarp, kRequest, kAbsent };
  static constexpr uint32_t kWaiters = 3;
  enum class Cause : uint8_t { kOthers, kAll };  // Delay::others, Delay::all
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
  // All segments of a launch.
  uint64_t cycles_of(int launch, WarpState state) const;
  uint64_t cycles_of(int launch) const;  // all states
  uint64_t lost_of(int victim, int culprit, Waiter waiter, Contended resource) const;

  void visit(StateVisitor& visitor) {
    // Every field. All but launch and counters say where counters are.
    [[maybe_unused]] const auto& [launches, first_rows, launch_of, columns, estimated, states, places, used, counters] = *this;
    for (LaunchAccount& launch : launch_) launch.visit(visitor);
    visitor.charges(std::span(counters_).subspan(1));
  }

  // The same sums, in whatever order their counters were made.
  bool operator==(const Account& other) const;

  // Throws std::logic_error naming the launch where states do not sum to resident warp-cycles, or the ledger does not sum to
  // the stalls, request waits and absences that it explains, or more was inherited than waited. Called at the end of every run, in
  // Release too.
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
  std::vector<uint32_t> first_row_;  // per launch, and the number of all
  std::vector<int> launch_of_;       // per row
  uint32_t columns_;
  bool estimated_ = false;
  std::vector<uint32_t> states_;  // [row]: the first of its states in counters_; 0: none yet
  // [row][column] into counters_. Some hundred thousand words where there are many launches, nearly all 0: rows of nothing are one,
  // and copies share each row until one of them needs another place in it.
  std::vector<std::shared_ptr<uint32_t[]>> places_;
  std::vector<std::pair<uint32_t, uint32_t>> used_;  // of places_: row and column
  std::vector<uint64_t> counters_ = {0};             // the first one stays 0
};

}  // namespace warpfold::sim
