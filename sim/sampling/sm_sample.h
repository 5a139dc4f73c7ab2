#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/memo/sm_class.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// Sampling of SMs. CTAs of unequal length make every SM a class of its own. If the options allow an error, a launch
// that has the chip to itself may be simulated on kSampledSms SMs. Each simulated SM represents n SMs. When it asks for
// a CTA, n CTAs leave the queue, and it runs one of them (SampledQueue). L2 and DRAM count each of its requests n
// times.
constexpr size_t kSampledSms = 24;  // docs/sampling.md, "Many SMs that are unlike"

// Returns, with 95 % confidence, by how much the last of all SMs may end later than the last of `sampled` SMs. The
// result is relative to the time from the first to the last end of the sampled SMs. Assumes that ends are spread evenly
// (the largest of a sample; David and Nagaraja, "Order Statistics", 2003, section 2.5). `sampled`: at least 2.
double latest_end_uncertainty(size_t sampled);

// True if the kernel may be simulated on a sample of the `sms` SMs. The CTAs must be unequal, the run must be long
// enough to save seconds, and the uncertainty of the end must be at most `error` of the kernel's time. SMs that take
// CTAs from one queue end within the time of the longest CTA (Graham, SIAM J. Appl. Math. 1969).
bool may_sample_sms(const KernelImage& image, uint64_t sms, double error);
// Cuts a class into kSampledSms classes of neighbouring SMs, each to be simulated by one SM.
std::vector<SmClass> sample_of(const SmClass& sms);

// Picks the CTAs that a sample of SMs runs. Of the CTAs that leave the queue together, it picks one of the class with
// the most CTAs not represented yet, so that the sample runs its share of each class.
class SampledQueue {
 public:
  // Returns the class of the CTA to run when `ctas`, at least one, leave the queue. The CTA represents `weight` CTAs.
  uint32_t pick(const CtaList& ctas, uint64_t weight);

 private:
  std::map<uint32_t, int64_t> owed_;  // by class: CTAs that have left the queue and are not represented yet
};

}  // namespace warpfold::sim
