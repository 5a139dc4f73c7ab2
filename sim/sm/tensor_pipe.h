#pragma once

#include <cstdint>

#include "sim/account/delay.h"
#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Whose a product in the tensor cores is.
struct ProductOwner {
  int launch = 0;
  uint32_t row = 0;  // of the account: its instruction's
  int cta = 0;
  uint64_t cta_serial = 0;

  bool operator==(const ProductOwner&) const = default;
};

// The SM's tensor cores as asynchronous products pass them: one starts after the other, each holds them for its interval.
class TensorPipe {
 public:
  explicit TensorPipe(Contended resource) : resource_(resource) {}

  Cycle free_at() const { return free_at_; }
  // A product starts that has been ready since `ready`, and is late by `late` until then. `before`: where the product before it of
  // the same issuers started, null where none is left. Returns how late it is.
  Delay start(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle interval, Arrival* before, Cycle now);
  // The pipe stands still for the launch's product, `lost` of the cycles because of other launches.
  void stand_still(Sm& sm, int launch, Cycle cycles, Cycle lost);
  // A warp has waited for a place in the queue before the pipe until `to`: to the ledger, and as what makes the warp late.
  void charge_wait(Sm& sm, const Warp& warp, Cycle to) const;
  void delay_by_wait(Sm& sm, Warp& warp, Cycle to) const;
  // No CTA is left: forgets whose products were the last ones.
  void forget_holders() { history_.clear(); }

  // `delayable`: a product in flight can still make it stand still. `earliest`: since when a product or a warp waits.
  void visit(Sm& sm, StateVisitor& visitor, bool delayable, Cycle earliest);

  bool operator==(const TensorPipe&) const = default;

 private:
  Delay charge(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle now) const;

  Contended resource_;
  Cycle free_at_ = 0;
  Arrival last_{};  // free after the last one started; its delay is that one's, and what has delayed the pipe since
  int launch_ = 0;  // of the product started last
  int cta_ = 0;
  uint64_t serial_ = 0;
  HoldHistory history_{};
};

}  // namespace warpfold::sim
