#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "sim/engine/snapshot.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// Sees every field of a key and may exclude it.
class KeyFilter {
 public:
  virtual ~KeyFilter() = default;
  virtual bool keeps(const char* name, uint64_t word) = 0;
};

// Visitor to which every stateful part of the machine shows its fields, always in the same order: to record a snapshot,
// or to move the state by a fast-forward. Each field is one of
//
//   value     influences the future as it is
//   time      a cycle; all past cycles are equivalent ("free since")
//   moment    a cycle whose distance matters even when it is past
//   since     the start of a wait or residency of a warp
//   count     a statistic; charges: statistics whose counters are created on demand
//   level     a quantity between 0 and a bound that matters only when it reaches either
//   relative  a difference of fields that matter only together; a fast-forward leaves these fields unchanged
class StateVisitor {
 public:
  // Records the state before cycle `now`.
  StateVisitor(Snapshot& into, Cycle now, KeyFilter* filter = nullptr) : snapshot_(&into), now_(now), filter_(filter) {
    into.clear();
    into.at = now;
  }
  // Moves the state by a fast-forward.
  explicit StateVisitor(const FastForward& fast_forward) : fast_forward_(&fast_forward) {}

  bool recording() const { return snapshot_ != nullptr; }
  Cycle now() const { return now_; }

  void value(const char* name, uint64_t value) {
    if (recording()) push(name, value);
  }
  void relative(const char* name, uint64_t difference) { value(name, difference); }
  // Small fields that share a word of the key, given as name, value, name, value. A field takes the bits of its type, a
  // bool one bit.
  template <typename... Fields>
  void values(Fields... fields) {
    if (!recording()) return;
    if (filter_ != nullptr) return push_apart(fields...);
    static_assert(bits_of<Fields...>() <= 64);
    snapshot_->key.push_back(joined(fields...));
  }

  void time(const char* name, Cycle& cycle) {
    if (recording()) {
      push(name, cycle == kNever ? kNever : cycle > now_ ? cycle - now_ : 0);
    } else {
      cycle = moved(cycle);
    }
  }
  // As above, with all cycles up to `margin` cycles ago equivalent.
  void time(const char* name, Cycle& cycle, Cycle margin) {
    if (recording()) {
      push(name, cycle == kNever ? kNever : cycle + margin > now_ ? cycle + margin - now_ : 0);
    } else {
      cycle = moved(cycle);
    }
  }
  void moment(const char* name, Cycle& cycle) {
    if (recording()) {
      push(name, cycle - now_);
    } else {
      cycle += fast_forward_->cycles;
    }
  }
  // Start of a warp's wait or residency, which is charged when it ends. `what` tells apart the kMomentsOfAWarp starts
  // of a warp.
  void since(uint64_t serial, uint64_t what, Cycle& cycle) {
    if (recording()) {
      snapshot_->moments.push_back(cycle);
      snapshot_->moment_owners.push_back(serial * kMomentsOfAWarp + what);
    } else {
      cycle += fast_forward_->moments[next_moment_++];
    }
  }
  static constexpr uint64_t kMomentsOfAWarp = 4;
  void cta_class(uint64_t value) {
    if (recording() && (filter_ == nullptr || filter_->keeps("cta_class", value))) snapshot_->classes.push_back(value);
  }
  void count(uint64_t& total) {
    if (recording()) {
      snapshot_->counts.push_back(total);
    } else {
      total += fast_forward_->counted[next_count_++];
    }
  }
  void counts(std::span<uint64_t> totals) {
    if (recording()) {
      snapshot_->counts.insert(snapshot_->counts.end(), totals.begin(), totals.end());
      return;
    }
    for (uint64_t& total : totals) total += fast_forward_->counted[next_count_++];
  }
  void charges(std::span<uint64_t> totals) {
    if (recording()) {
      snapshot_->charges.insert(snapshot_->charges.end(), totals.begin(), totals.end());
      return;
    }
    for (uint64_t& total : totals.first(std::min(totals.size(), fast_forward_->charged.size() - next_charge_)))
      total += fast_forward_->charged[next_charge_++];
  }
  // `added`: running total of additions to the level, or an upper bound of it. It limits how far the level rises within
  // a period.
  void level(uint64_t& level, uint64_t most, uint64_t added) {
    if (recording()) {
      snapshot_->levels.push_back({level, most, added});
    } else {
      level += fast_forward_->risen[next_level_++];
    }
  }
  // Trips left of the loops around a warp, outermost first.
  void trips(uint64_t serial, int launch, std::span<uint64_t> left) {
    if (recording()) return snapshot_->trips.add(serial, launch, left);
    for (uint64_t& each : left) each -= fast_forward_->trips_taken[next_trip_++];
  }
  // CTAs of a launch placed so far. Returns the number of CTAs placed in the skipped periods; 0 while recording.
  uint64_t placed(uint64_t ctas) {
    if (!recording()) return fast_forward_->placed[next_launch_++];
    snapshot_->placed.push_back(ctas);
    return 0;
  }
  // Cycles by which the state moves; 0 while recording.
  Cycle shift() const { return recording() ? 0 : fast_forward_->cycles; }
  // Returns `cycle` moved by the fast-forward. A cycle that would come before cycle 0 becomes `before_all`.
  Cycle moved(Cycle cycle, Cycle before_all = 0) const {
    if (recording() || cycle == kNever) return cycle;
    const bool back = static_cast<int64_t>(fast_forward_->cycles) < 0;
    return back && cycle < Cycle{0} - fast_forward_->cycles ? before_all : cycle + fast_forward_->cycles;
  }

 private:
  template <typename Field>
  static constexpr int kBits = std::is_same_v<Field, bool> ? 1 : 8 * static_cast<int>(sizeof(Field));
  template <typename Name, typename Field, typename... Rest>
  static constexpr int bits_of() {
    if constexpr (sizeof...(Rest) == 0) {
      return kBits<Field>;
    } else {
      return kBits<Field> + bits_of<Rest...>();
    }
  }
  template <typename Field, typename... Rest>
  static uint64_t joined(const char* /*name*/, Field field, Rest... rest) {
    if constexpr (sizeof...(Rest) == 0) {
      return unsigned_of(field);
    } else {
      return joined(rest...) << kBits<Field> | unsigned_of(field);
    }
  }
  template <typename Field>
  static uint64_t unsigned_of(Field field) {
    if constexpr (std::is_same_v<Field, bool> || std::is_enum_v<Field>) {
      return static_cast<uint64_t>(field);
    } else {
      return static_cast<std::make_unsigned_t<Field>>(field);
    }
  }
  template <typename Field, typename... Rest>
  void push_apart(const char* name, Field field, Rest... rest) {
    push(name, unsigned_of(field));
    if constexpr (sizeof...(Rest) > 0) push_apart(rest...);
  }
  void push(const char* name, uint64_t word) {
    if (filter_ != nullptr && !filter_->keeps(name, word)) return;
    snapshot_->key.push_back(word);
  }

  Snapshot* snapshot_ = nullptr;
  const FastForward* fast_forward_ = nullptr;
  Cycle now_ = 0;
  KeyFilter* filter_ = nullptr;
  size_t next_count_ = 0;
  size_t next_charge_ = 0;
  size_t next_trip_ = 0;
  size_t next_level_ = 0;
  size_t next_moment_ = 0;
  size_t next_launch_ = 0;
};

}  // namespace warpfold::sim
