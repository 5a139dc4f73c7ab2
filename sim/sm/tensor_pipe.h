#pragma once

#include <cstdint>

#include "sim/account/delay.h"
#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Owner of a product in the tensor cores.
struct ProductOwner {
  int launch = 0;
  uint32_t row = 0;  // row of the account, by the product's instruction
  int cta = 0;
  uint64_t cta_serial = 0;

  bool operator==(const ProductOwner&) const = default;
};

// The SM's tensor cores as a pipe of asynchronous products. Products start in order; each occupies the pipe for its
// interval.
class TensorPipe {
 public:
  explicit TensorPipe(Contended resource) : resource_(resource) {}

  Cycle free_at() const { return free_at_; }
  // Starts a product that has been ready since `ready`, with delay `late` at that time. `before`: end of the pipe time
  // of the issuers' previous product, which this one replaces; null if their CTA has ended. Returns the product's delay
  // at its start.
  Delay start(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle interval, Arrival* before, Cycle now);
  // Stalls the pipe for a product of the launch; `lost` of the cycles are due to other launches.
  void stand_still(Sm& sm, int launch, Cycle cycles, Cycle lost);
  // Charges a warp's wait for an entry in the pipe's queue, which ends at `to`, to the ledger.
  void charge_wait(Sm& sm, const Warp& warp, Cycle to) const;
  // Adds such a wait to the warp's delay.
  void delay_by_wait(Sm& sm, Warp& warp, Cycle to) const;
  // Forgets the launches of earlier products. Requires that no CTA is resident.
  void forget_holders() { history_.clear(); }

  // `delayable`: a product in flight can still stall the pipe. `earliest`: the first cycle since which a product or
  // warp waits.
  void visit(Sm& sm, StateVisitor& visitor, bool delayable, Cycle earliest);

  bool operator==(const TensorPipe&) const = default;

 private:
  Delay charge(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle now) const;

  Contended resource_;
  Cycle free_at_ = 0;
  Arrival last_{};  // end of the last product's pipe time; delay of that product and of stalls since
  int launch_ = 0;  // launch of the product started last
  int cta_ = 0;
  uint64_t serial_ = 0;
  HoldHistory history_{};
};

}  // namespace warpfold::sim
