#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/memo/sm_class.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// A sample of the SMs. CTAs of unequal length make every SM a class of its own. Where the options allow an error, a launch that
// has the chip to itself is simulated on kSampledSms SMs. Each simulated SM stands for n SMs. When it asks for a CTA, n CTAs leave
// the queue, and it runs one of them (SampledQueue). L2 and DRAM count each of its requests n times.
constexpr size_t kSampledSms = 24;  // docs/sampling.md, "Many SMs that are unlike"

// By how much the last of all SMs may end later than the last of `sampled` ones, at most, relative to the time from the first to
// the last of those: with 95 % confidence, if ends are spread evenly (the largest of a sample; David and Nagaraja, "Order
// Statistics", 2003, section 2.5). `sampled`: at least 2.
double latest_end_uncertainty(size_t sampled);

// Whether a sample states no more than `error`, as a share of the kernel's time on `sms` SMs, and saves seconds. SMs that take CTAs
// from one queue end within the time of the longest CTA (Graham, SIAM J. Appl. Math. 1969).
bool may_sample_sms(const KernelImage& image, uint64_t sms, double error);
// Cuts SMs that receive the same into kSampledSms parts of SMs that follow each other.
std::vector<SmClass> sample_of(const SmClass& sms);

// Which CTAs of the queue a sample of SMs runs. Of those that leave it together, one of the class of which most have left and not
// been run, so that the sample has run its share of each class.
class SampledQueue {
 public:
  // `ctas`, at least one, leave the queue; the CTA that is run counts as `weight` CTAs. Returns its class.
  uint32_t pick(const CtaList& ctas, uint64_t weight);

 private:
  std::map<uint32_t, int64_t> owed_;  // by class: CTAs that have left and that none has stood for
};

}  // namespace warpfold::sim
