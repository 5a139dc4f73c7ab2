#include "traces/access/lru_cache.h"

namespace warpfold::traces::access {

void LruCache::unlink(uint32_t at) {
  const Entry& entry = entries_[at];
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
}

void LruCache::link_newest(uint32_t at) {
  entries_[at].newer = kNone;
  entries_[at].older = newest_;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = at;
  newest_ = at;
}

uint8_t LruCache::touch(uint64_t line, uint8_t sectors, bool allocate) {
  const auto known = places_.find(line);
  if (known != places_.end()) {
    Entry& entry = entries_[known->second];
    const auto hits = static_cast<uint8_t>(entry.sectors & sectors);
    if (allocate) entry.sectors = static_cast<uint8_t>(entry.sectors | sectors);
    if (known->second != newest_) {
      unlink(known->second);
      link_newest(known->second);
    }
    return hits;
  }
  if (!allocate || capacity_ == 0) return 0;
  uint32_t at = oldest_;
  if (entries_.size() < capacity_) {
    at = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    places_.erase(entries_[at].line);
    unlink(at);
  }
  entries_[at].line = line;
  entries_[at].sectors = sectors;
  entries_[at].stored = 0;
  link_newest(at);
  places_.emplace(line, at);
  return 0;
}

uint8_t LruCache::store(uint64_t line, uint8_t sectors) {
  if (capacity_ == 0) return 0;
  touch(line, sectors);
  Entry& entry = entries_[newest_];
  const auto before = static_cast<uint8_t>(entry.stored & sectors);
  entry.stored = static_cast<uint8_t>(entry.stored | sectors);
  return before;
}

}  // namespace warpfold::traces::access
