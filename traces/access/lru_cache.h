#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpfold::traces::access {

// A cache of sectored lines with LRU replacement and no sets. A sector hits where fewer other lines than the cache holds were
// touched since the line was touched before (its reuse distance), and the sector itself has been touched while the line was there.
class LruCache {
 public:
  explicit LruCache(uint64_t lines) : capacity_(lines) {}

  // Of the sectors asked for of `line`, those that the cache has; with `allocate` it has all of them afterwards.
  uint8_t touch(uint64_t line, uint8_t sectors, bool allocate = true);
  // A store: of the sectors, those that were stored before since the line came; the cache has all of them afterwards.
  uint8_t store(uint64_t line, uint8_t sectors);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Entry {
    uint64_t line = 0;
    uint32_t newer = kNone;
    uint32_t older = kNone;
    uint8_t sectors = 0;
    uint8_t stored = 0;  // of them
  };

  void unlink(uint32_t at);
  void link_newest(uint32_t at);

  uint64_t capacity_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, uint32_t> places_;
  uint32_t newest_ = kNone;
  uint32_t oldest_ = kNone;
};

}  // namespace warpfold::traces::access
