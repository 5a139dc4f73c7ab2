#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// How long one resource needs for what a kernel asks of it, if it never waits.
struct Limiter {
  std::string resource;  // issue_slot, alu, ..., wgmma, shared_memory, l2_read, dram: the names of a simulation's resources
  double cycles = 0;
  double slack = 0;  // of these, how many may lie behind the kernel's end: queued by its last instructions, or not needed
};

// A kernel's limiters, the longest first. Its time is the first one's: no kernel is faster, and the limiter model takes it to be
// that fast.
class Limiters {
 public:
  explicit Limiters(std::vector<Limiter> limiters);

  const std::vector<Limiter>& all() const { return limiters_; }
  double cycles() const { return limiters_.front().cycles; }
  double cycles_of(const std::string& resource) const;  // 0 where the kernel asks nothing of it
  // What no simulation of the kernel can be faster than.
  double lower_bound() const;

 private:
  std::vector<Limiter> limiters_;
};

// One stream of instructions that does the work of both: resource by resource the sum.
Limiters merged(const Limiters& one, const Limiters& other);

// Counts a kernel's rolled program for a GPU. Resources inside an SM: the SM that must have most of them,
// whichever SM gets which CTA; L2 and DRAM: the chip.
// Fails where a CTA can never fit or the kernel is for another architecture, as a simulation does.
Expected<Limiters> limiters_of(const configs::Gpu& gpu, const traces::Kernel& kernel);

// All the kernels' work, spread evenly over the SMs: whatever the policy, no way to run them on this GPU takes less than its lower
// bound.
Expected<Limiters> limiters_of_any_policy(const configs::Gpu& gpu, const std::vector<const traces::Kernel*>& kernels);

}  // namespace warpfold::sim
