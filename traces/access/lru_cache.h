#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpfold::traces::access {

// Fully associative cache of sectored lines with LRU replacement. A sector hits if fewer other lines than the cache
// holds were touched since the last touch of its line (its reuse distance), and if the sector was touched while the
// line was present.
class LruCache {
 public:
  explicit LruCache(uint64_t lines) : capacity_(lines) {}

  // Returns the requested sectors of `line` that are present. With `allocate` all of them are present afterwards.
  uint8_t touch(uint64_t line, uint8_t sectors, bool allocate = true);
  // Stores to sectors of `line`. Returns those stored before since the line entered; all are present afterwards.
  uint8_t store(uint64_t line, uint8_t sectors);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Entry {
    uint64_t line = 0;
    uint32_t newer = kNone;
    uint32_t older = kNone;
    uint8_t sectors = 0;
    uint8_t stored = 0;  // subset of sectors
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
