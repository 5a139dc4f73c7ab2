#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// Time that one resource needs for a kernel's demand if it never waits.
struct Limiter {
  std::string resource;  // issue_slot, alu, ..., wgmma, shared_memory, l2_read, dram: resource names of the simulation
  double cycles = 0;
  double slack = 0;  // part of cycles that the run may avoid: work queued when the kernel ends, or work that may not be needed
};

// Limiters of a kernel, longest first. The limiter model estimates the kernel's time as that of the first limiter; the
// kernel cannot be faster, up to its slack.
class Limiters {
 public:
  explicit Limiters(std::vector<Limiter> limiters);

  const std::vector<Limiter>& all() const { return limiters_; }
  double cycles() const { return limiters_.front().cycles; }
  double cycles_of(const std::string& resource) const;  // 0 if the kernel does not use the resource
  // Returns the cycles below which no simulation of the kernel can be.
  double lower_bound() const;

 private:
  std::vector<Limiter> limiters_;
};

// Returns the limiters of one instruction stream that does the work of both: the sum for each resource.
Limiters merged(const Limiters& one, const Limiters& other);

// Counts a kernel's rolled program for a GPU. Resources of an SM are counted for the SM with the most work, at its
// minimum over all distributions of CTAs to SMs. L2 and DRAM are counted for the chip. Fails like a simulation if a CTA
// can never fit, or if the kernel is for another architecture.
Expected<Limiters> limiters_of(const configs::Gpu& gpu, const traces::Kernel& kernel);

// Returns limiters of all the kernels' work, spread evenly over the SMs. No policy can run the kernels on this GPU in
// less time than their lower bound.
Expected<Limiters> limiters_of_any_policy(const configs::Gpu& gpu, const std::vector<const traces::Kernel*>& kernels);

}  // namespace warpfold::sim
