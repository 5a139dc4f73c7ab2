#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "sim/account/delay.h"
#include "sim/sm/ids.h"

namespace warpfold::sim {

// An event belongs to the unit that handles it, which says what its kinds mean. One that is for a warp or a CTA names it by its
// serial and is dropped when that is gone. `delay`: Warp::delay of what brings the event about.

struct SubCoreEvent {
  enum class Kind : uint8_t {
    kCounter,      // a dependence counter of a warp goes down
    kLoadResult,   // the same, with registers to be written first
    kAsyncCopied,  // a copy of a cp.async group has arrived
    kBulkStored,   // a bulk store of a warp has left the SM
    kStored,       // a store of a warp has left the SM
    kQueueEntry,   // an entry of the memory queue is free
  };
  Kind kind;
  uint8_t sub_core = 0;
  uint8_t slot = 0;
  uint8_t counter = 0;
  uint64_t serial = 0;  // of the warp
  uint64_t value = 0;   // number of the cp.async group; registers of the even and the odd bank
  Delay delay{};

  bool operator==(const SubCoreEvent&) const = default;
};

struct MemoryEvent {
  enum class Kind : uint8_t { kArbitrate, kDataStage, kCredit, kBulkStart, kLeaves };
  Kind kind;

  bool operator==(const MemoryEvent&) const = default;
};

struct BarrierEvent {
  enum class Kind : uint8_t {
    kBytes,    // of a bulk copy have arrived at an mbarrier
    kArrive,   // at an mbarrier
    kVisible,  // a phase of an mbarrier, to waiting warps
    kRelease,  // of a named barrier
  };
  Kind kind;
  uint16_t cta = 0;
  uint16_t barrier = 0;  // ring of mbarriers, or named barrier
  RingStage stage{};     // of the ring
  uint64_t serial = 0;   // of the CTA
  uint64_t value = 0;    // bytes, or phase
  Delay delay{};

  bool operator==(const BarrierEvent&) const = default;
};

struct WgmmaEvent {
  enum class Kind : uint8_t { kStart, kWrites, kReads, kComplete };
  Kind kind;
  uint64_t command = 0;  // its number, but for kStart

  bool operator==(const WgmmaEvent&) const = default;
};

// The next command may leave the queues.
struct Tcgen05Event {
  bool operator==(const Tcgen05Event&) const = default;
};

struct PlacementEvent {
  enum class Kind : uint8_t {
    kRelease,  // a launch may place CTAs
    kPlace,    // the next CTA may be placed
    kCtaEnd,   // a CTA's place is free
  };
  Kind kind;
  uint16_t cta = 0;

  bool operator==(const PlacementEvent&) const = default;
};

// {unit, payload}: the alternative is the unit.
using Event = std::variant<SubCoreEvent, MemoryEvent, BarrierEvent, WgmmaEvent, PlacementEvent, Tcgen05Event>;

// A delay of a part of a CTA, in a key relative to the CTA's most delayed warp.
struct PartDelay {
  int launch = 0;
  int cta = 0;
  uint64_t cta_serial = 0;
  Delay delay{};
};

// What an event is to a state key: names of what it is for, and numbers relative to how far that has come.
struct EventKey {
  uint8_t kind = 0;
  uint8_t sub_core = 0;
  uint8_t slot = 0;
  uint8_t counter = 0;
  uint16_t cta = 0;
  uint16_t barrier = 0;
  RingStage stage{};  // behind the ring's origin
  uint64_t value = 0;
  std::optional<PartDelay> delay{};
};

}  // namespace warpfold::sim
