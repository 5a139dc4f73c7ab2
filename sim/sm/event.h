#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "sim/account/delay.h"
#include "sim/sm/ids.h"

namespace warpfold::sim {

// The unit that handles an event defines its kinds. An event for a warp or a CTA carries the serial of the warp or CTA,
// and is dropped if that has ended. `delay` is the delay of the warp or request that causes the event.

struct SubCoreEvent {
  enum class Kind : uint8_t {
    kCounter,      // decrements a dependence counter of a warp
    kLoadResult,   // writes a load's registers, then decrements the counter
    kAsyncCopied,  // a copy of a cp.async group has arrived
    kBulkStored,   // a bulk store of a warp is done
    kStored,       // a store of a warp is done
    kQueueEntry,   // an entry of the memory queue is free
  };
  Kind kind;
  uint8_t sub_core = 0;
  uint8_t slot = 0;
  uint8_t counter = 0;
  uint64_t serial = 0;  // serial of the warp
  // kAsyncCopied: number of the cp.async group. kLoadResult: registers to write, of the even bank in bits 0-7, of the
  // odd bank in bits 8-15.
  uint64_t value = 0;
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
    kBytes,    // bytes of a bulk copy have arrived at an mbarrier
    kArrive,   // a warp or a commit arrives at an mbarrier
    kVisible,  // waiting warps see that a phase of an mbarrier is complete
    kRelease,  // the warps at a named barrier go on
  };
  Kind kind;
  uint16_t cta = 0;
  uint16_t barrier = 0;  // ring of mbarriers, or named barrier
  RingStage stage{};     // stage of the ring
  uint64_t serial = 0;   // serial of the CTA
  uint64_t value = 0;    // kBytes: bytes; kArrive: bytes to expect; otherwise the phase
  Delay delay{};

  bool operator==(const BarrierEvent&) const = default;
};

struct WgmmaEvent {
  enum class Kind : uint8_t { kStart, kWrites, kReads, kComplete };
  Kind kind;
  uint64_t command = 0;  // number of the command; unused by kStart

  bool operator==(const WgmmaEvent&) const = default;
};

// Another command may leave the queues of the tcgen05 unit.
struct Tcgen05Event {
  bool operator==(const Tcgen05Event&) const = default;
};

struct PlacementEvent {
  enum class Kind : uint8_t {
    kRelease,  // a launch may place CTAs
    kPlace,    // the next CTA may be placed
    kCtaEnd,   // the resources of an ended CTA become free
  };
  Kind kind;
  uint16_t cta = 0;

  bool operator==(const PlacementEvent&) const = default;
};

// An event. The alternative that it holds identifies the unit.
using Event = std::variant<SubCoreEvent, MemoryEvent, BarrierEvent, WgmmaEvent, PlacementEvent, Tcgen05Event>;

// Delay of a warp or request of a CTA. State keys hold it relative to the CTA's most delayed warp.
struct PartDelay {
  int launch = 0;
  int cta = 0;
  uint64_t cta_serial = 0;
  Delay delay{};
};

// An event as a state key holds it: slots in place of serials, and relative numbers of phases, groups and commands.
struct EventKey {
  uint8_t kind = 0;
  uint8_t sub_core = 0;
  uint8_t slot = 0;
  uint8_t counter = 0;
  uint16_t cta = 0;
  uint16_t barrier = 0;
  RingStage stage{};  // counted from the ring's origin
  uint64_t value = 0;
  std::optional<PartDelay> delay{};
};

}  // namespace warpfold::sim
