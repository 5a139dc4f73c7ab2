#pragma once

#include <cstdint>

#include "sim/account/delay.h"

namespace warpfold::sim {

enum class EventType : uint8_t {
  kCounter,
  kLoadResult,
  kArbitrate,
  kDataStage,
  kQueueEntry,
  kCredit,
  kBulkStart,
  kBulkLoaded,
  kBulkStored,
  kStored,
  kAsyncCopied,
  kMbarrierArrive,
  kMbarrierVisible,
  kBarrierRelease,
  kWgmmaStart,
  kWgmmaWrites,
  kWgmmaReads,
  kWgmmaComplete,
  kRelease,
  kPlace,
  kCtaEnd,
};
struct Event {
  EventType type;
  uint8_t sub_core = 0;
  uint8_t slot = 0;
  uint8_t counter = 0;
  uint16_t cta = 0;
  uint16_t ring = 0;  // or named barrier
  uint32_t stage = 0;
  uint64_t serial = 0;  // of the warp or CTA it is for; dropped when that is gone
  uint64_t value = 0;   // bytes, group or command number; registers of the even and the odd bank
  Delay delay{};        // Warp::delay of what brings it about

  bool operator==(const Event&) const = default;
};

}  // namespace warpfold::sim
