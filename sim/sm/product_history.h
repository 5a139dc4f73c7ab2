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

// The listener's part of a tensor pipe: the launches that held the pipe, and the delay of the product started last.
class ProductHistory {
 public:
  explicit ProductHistory(Contended resource) : resource_(resource) {}

  // A product starts that has been ready since `ready`, with delay `late` at that time. It holds the pipe until `end`.
  // `before`: end of the pipe time of the issuers' previous product, which this one replaces; null if their CTA has
  // ended. Returns the product's delay at its start.
  Delay started(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle end, Arrival* before, Cycle now);
  // The pipe stands still for a product of the launch; `lost` of the cycles are due to other launches.
  void stood_still(const Sm& sm, int launch, Cycle cycles, Cycle lost);
  // Charges a warp's wait for an entry in the pipe's queue, which ends at `until`, to the ledger.
  void charge_wait(Sm& sm, const Warp& warp, Cycle until) const;
  // Adds such a wait to the warp's delay.
  void delay_by_wait(Sm& sm, Warp& warp, Cycle until) const;
  // Forgets the launches of earlier products. Requires that no CTA is resident.
  void forget_holders() { holders_.clear(); }

  // `earliest`: the first cycle since which a product or warp waits.
  void visit_holders(StateVisitor& visitor, Cycle earliest) { holders_.visit(visitor, earliest); }
  void visit_last(Sm& sm, StateVisitor& visitor);

  bool operator==(const ProductHistory&) const = default;

 private:
  Delay charge(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle now) const;

  Contended resource_;
  Arrival last_{};  // end of the last product's pipe time; delay of that product and of stalls since
  int launch_ = 0;  // launch of the product started last
  int cta_ = 0;
  uint64_t serial_ = 0;
  HoldHistory holders_{};
};

}  // namespace warpfold::sim
