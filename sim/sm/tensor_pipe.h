#pragma once

#include "sim/sm/product_history.h"

namespace warpfold::sim {

// The SM's tensor cores as a pipe of asynchronous products. Products start in order; each occupies the pipe for its
// interval.
class TensorPipe {
 public:
  explicit TensorPipe(Contended resource) : products_(resource) {}

  Cycle free_at() const { return free_at_; }
  // Starts a product; parameters and result as for ProductHistory::started.
  Delay start(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle interval, Arrival* before, Cycle now) {
    free_at_ = now + interval;
    return products_.started(sm, owner, late, ready, free_at_, before, now);
  }
  // Stalls the pipe for a product of the launch; `lost` of the cycles are due to other launches.
  void stand_still(const Sm& sm, int launch, Cycle cycles, Cycle lost) {
    free_at_ += cycles;
    products_.stood_still(sm, launch, cycles, lost);
  }
  ProductHistory& products() { return products_; }
  const ProductHistory& products() const { return products_; }

  // `delayable`: a product in flight can still stall the pipe, which moves free_at even if it is past. `earliest`: the
  // first cycle since which a product or warp waits.
  void visit(Sm& sm, StateVisitor& visitor, bool delayable, Cycle earliest) {
    [[maybe_unused]] const auto& [free_at, products] = *this;  // the binding lists all fields
    products_.visit_holders(visitor, earliest);
    if (delayable) {
      visitor.moment("tensor_pipe_free", free_at_);
    } else {
      visitor.time("tensor_pipe_free", free_at_);
    }
    products_.visit_last(sm, visitor);
  }

  bool operator==(const TensorPipe&) const = default;

 private:
  Cycle free_at_ = 0;
  ProductHistory products_;
};

}  // namespace warpfold::sim
