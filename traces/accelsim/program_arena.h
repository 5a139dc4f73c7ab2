#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpfold::traces::accelsim {

// Element of a rolled program: an instruction of the static code, or a loop of the arena.
class Symbol {
 public:
  static Symbol instruction(uint32_t number) { return Symbol(number); }
  static Symbol loop(uint32_t number) { return Symbol(number | kLoop); }
  bool is_loop() const { return (value_ & kLoop) != 0; }
  uint32_t number() const { return value_ & ~kLoop; }
  bool operator==(const Symbol&) const = default;
  uint32_t raw() const { return value_; }

 private:
  static constexpr uint32_t kLoop = 1U << 31;
  explicit Symbol(uint32_t value) : value_(value) {}
  uint32_t value_;
};

using SymbolList = std::vector<Symbol>;

// Interns lists of symbols and loops over them, so that warps with the same program share it. Equal lists have equal
// numbers.
class ProgramArena {
 public:
  struct Loop {
    uint32_t body;  // number of a list
    uint64_t trips;
    bool operator==(const Loop&) const = default;
  };

  uint32_t list(const SymbolList& symbols);
  const SymbolList& list(uint32_t number) const { return lists_[number]; }
  Symbol loop(uint32_t body, uint64_t trips);
  const Loop& loop(Symbol symbol) const { return loops_[symbol.number()]; }

  // Instructions that the list expands to.
  uint64_t expanded(uint32_t list) const { return expanded_[list]; }
  // Greatest nesting of loops in the list.
  int depth(uint32_t list) const { return depths_[list]; }

 private:
  struct LoopHash {
    size_t operator()(const Loop& loop) const { return loop.body * 0x9e3779b97f4a7c15ULL ^ loop.trips * 0xc2b2ae3d27d4eb4fULL; }
  };

  std::vector<SymbolList> lists_;
  std::vector<uint64_t> expanded_;
  std::vector<int> depths_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<Loop> loops_;
  std::unordered_map<Loop, uint32_t, LoopHash> known_loops_;
};

}  // namespace warpfold::traces::accelsim
