// Events that the units of an SM report, and the account that listens to them (listener*.cc). The units decide what
// happens; the listener charges the cycles to launches. Built with WARPFOLD_ACCOUNTING=OFF, the listener counts
// instructions and bytes only.
//
//   a warp's life       WarpStarted, Issued, Advanced, WarpExited, WarpDrained
//   a lost cycle        Stalled, NotSelected        reason, resource and its holder, for all warps of a sub-core at once
//   a wait              AwakeEnded, HeldBack, WaitEnded
//   a memory request    RequestIssued, RequestServed, RequestWaited, RequestQueued, TransferWaited, ResultWaited
//   a tensor product    UpdateWaited
//
// Two more files belong to the listener: sm_inherit.h for the delays that warps and requests pass to the warps that wait
// for them, product_history.h for the tensor pipes.
//
// Each overload of tell() enters one event into the account. listener_sub_core.h has those of every cycle, inline.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/account/delay.h"
#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/time.h"
#include "sim/engine/warp_mask.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;
class SubCore;
struct MemoryRequest;
struct ProductOwner;
struct TransferUnderWay;

// ---- a warp's life

struct WarpStarted {
  SubCore& sub_core;
  Warp& warp;
  int slot;
};

struct Issued {
  SubCore& sub_core;
  Warp& warp;
  int slot;
  Cycle now;
};

// A warp has moved from instruction `from`, the last one of a stretch of straight code, to its next instruction.
struct Advanced {
  SubCore& sub_core;
  Warp& warp;
  int slot;
  const MicroOp& from;
  Cycle now;
};

struct WarpExited {
  SubCore& sub_core;
  const Warp& warp;
  int slot;
};

// The last store of an exited warp is done. `delay`: of that store.
struct WarpDrained {
  Warp& warp;
  Cycle at;
  Delay delay;
};

// ---- a lost cycle

// `holder`: launch that holds the resource.
struct Stalled {
  SubCore& sub_core;
  WarpMask warps;
  WarpState reason;
  int holder;
  Contended resource;
};

// Losers of the issue slot to a warp of launch `winner`. A second issue slot would not help the losers in
// `without_pipe`: they need the pipe that the winner has closed.
struct NotSelected {
  SubCore& sub_core;
  WarpMask losers;
  WarpMask without_pipe;
  int winner;
  Contended pipe;
};

// ---- a wait

// A warp that was awake since Warp::since issues or is blocked.
struct AwakeEnded {
  SubCore& sub_core;
  Warp& warp;
  int slot;
  Cycle now;
};

// A result waits `cycles` in front of its pipe while accumulators of launch `holder` are written back. `from`: the cycle
// in which the warp's next instruction would have been ready.
struct HeldBack {
  SubCore& sub_core;
  Warp& warp;
  int slot;
  int holder;
  Cycle from;
  Cycle cycles;
};

// A blocked warp's wait in state Warp::reason ends at `until`. `delay`: of the warp or request for which it waited;
// none: it has no history.
struct WaitEnded {
  const SubCore& sub_core;
  Warp& warp;
  int slot;
  Cycle until;
  std::optional<Delay> delay;
};

// ---- a memory request

struct RequestIssued {
  int launch;
  uint64_t bytes;
};

// `from_l1`, `from_dram`: parts of `bytes`.
struct RequestServed {
  int launch;
  uint64_t bytes;
  uint64_t from_l1;
  uint64_t from_dram;
};

struct RequestWaited {
  MemoryRequest& request;
  int holder;
  Contended resource;
  Cycle cycles;
};

struct RequestQueued {
  MemoryRequest& request;
  const HoldHistory& holders;
  Contended resource;
  Cycle from;
  Cycle until;
};

// The transfer holds up its request for `cycles`.
struct TransferWaited {
  MemoryRequest& request;
  const TransferUnderWay& transfer;
  Cycle cycles;
};

// A load's result waits a cycle for the write port, which launch `holder` uses. `delay`: of the load.
struct ResultWaited {
  const Warp& warp;
  int holder;
  Delay& delay;
};

// ---- a tensor product

// The update of a product's accumulators waits for a register port that launch `holder` uses.
struct UpdateWaited {
  const ProductOwner& owner;
  int holder;
  Contended port;
  Cycle cycles;
};

void tell(Sm& sm, const WarpStarted& event);
void tell(Sm& sm, const Advanced& event);
void tell(Sm& sm, const WarpExited& event);
void tell(Sm& sm, const WarpDrained& event);
void tell(Sm& sm, const HeldBack& event);
void tell(Sm& sm, const WaitEnded& event);
void tell(Sm& sm, const RequestIssued& event);
void tell(Sm& sm, const RequestServed& event);
void tell(Sm& sm, const RequestWaited& event);
void tell(Sm& sm, const RequestQueued& event);
void tell(Sm& sm, const TransferWaited& event);
void tell(Sm& sm, const ResultWaited& event);
void tell(Sm& sm, const UpdateWaited& event);

}  // namespace warpfold::sim
