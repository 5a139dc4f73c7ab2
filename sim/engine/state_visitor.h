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

// Sees every field of a key, and may leave it out.
class KeyFilter {
 public:
  virtual ~KeyFilter() = default;
  virtual bool keeps(const char* name, uint64_t word) = 0;
};

// Every stateful part of the machine shows its fields to a visitor, always in the same order: once to take a state, once to move
// it on. A field is one of
//
//   value     influences the future as it is
//   time      a cycle; all cycles up to now mean the same ("free since")
//   moment    a cycle whose distance counts even when it is past
//   count     a statistic; charges: those that have not been there from the start
//   level     a quantity between 0 and a bound that only counts when it comes to one of the two
//   relative  a value made of fields that only count together; moving the state on leaves those fields alone
class StateVisitor {
 public:
  // Takes the state before cycle `now`.
  StateVisitor(Snapshot& into, Cycle now, KeyFilter* filter = nullptr) : snapshot_(&into), now_(now), filter_(filter) {
    into.clear();
    into.at = now;
  }
  // Moves the state on.
  explicit StateVisitor(const FastForward& fast_forward) : fast_forward_(&fast_forward) {}

  bool recording() const { return snapshot_ != nullptr; }
  Cycle now() const { return now_; }

  void value(const char* name, uint64_t value) {
    if (recording()) push(name, value);
  }
  void relative(const char* name, uint64_t difference) { value(name, difference); }
  // Small fields, which share a word: name, value, name, value. Each has the bits of its type, a bool one.
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
  // All cycles up to `margin` cycles ago mean the same.
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
  // Since when something of a warp goes on that is charged at its end; `what` of kMomentsOfAWarp.
  void since(uint64_t serial, uint64_t what, Cycle& cycle) {
    if (recording()) {
      snapshot_->moments.push_back(cycle);
      snapshot_->whose.push_back(serial * kMomentsOfAWarp + what);
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
  // `added`: all that has been added so far, at or above what a period adds.
  void level(uint64_t& level, uint64_t most, uint64_t added) {
    if (recording()) {
      snapshot_->levels.push_back({level, most, added});
    } else {
      level += fast_forward_->risen[next_level_++];
    }
  }
  // Of the loops that a warp is in.
  void trips(uint64_t serial, int launch, std::span<uint64_t> left) {
    if (recording()) return snapshot_->trips.add(serial, launch, left);
    for (uint64_t& each : left) each -= fast_forward_->trips_taken[next_trip_++];
  }
  // CTAs of a launch placed so far. Returns how many more have been placed in the periods skipped.
  uint64_t placed(uint64_t ctas) {
    if (!recording()) return fast_forward_->placed[next_launch_++];
    snapshot_->placed.push_back(ctas);
    return 0;
  }
  // Cycles that a skip moves by; 0 while recording.
  Cycle shift() const { return recording() ? 0 : fast_forward_->cycles; }
  // A cycle, so much later; what would come before cycle 0 was `before_all`.
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
