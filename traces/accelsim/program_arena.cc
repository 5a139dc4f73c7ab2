#include "traces/accelsim/program_arena.h"

#include <algorithm>

namespace warpfold::traces::accelsim {
namespace {

uint64_t hash_of(const SymbolList& symbols) {
  uint64_t hash = symbols.size();
  for (const Symbol symbol : symbols) {
    hash = (hash ^ symbol.raw()) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

uint32_t ProgramArena::list(const SymbolList& symbols) {
  const uint64_t hash = hash_of(symbols);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (lists_[at->second] == symbols) return at->second;
  }
  const auto number = static_cast<uint32_t>(lists_.size());
  uint64_t expands = 0;
  int depth = 0;
  for (const Symbol symbol : symbols) {
    expands += symbol.is_loop() ? loop(symbol).trips * expanded_[loop(symbol).body] : 1;
    if (symbol.is_loop()) depth = std::max(depth, 1 + depths_[loop(symbol).body]);
  }
  lists_.push_back(symbols);
  expanded_.push_back(expands);
  depths_.push_back(depth);
  by_hash_.emplace(hash, number);
  return number;
}

Symbol ProgramArena::loop(uint32_t body, uint64_t trips) {
  const auto [known, made] = known_loops_.try_emplace({body, trips}, static_cast<uint32_t>(loops_.size()));
  if (made) loops_.push_back({body, trips});
  return Symbol::loop(known->second);
}

}  // namespace warpfold::traces::accelsim
