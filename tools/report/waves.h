#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::report {

// The waves in which a kernel's CTAs fill the SMs: its CTAs over those that fit at a time. The last wave may be a tail that leaves
// room empty.
double waves_of(const configs::Result& result, const configs::KernelResult& kernel);

// Returns "1.45 waves of CTAs: the last one fills 45 % of the chip"; empty if the tail leaves less room empty than is worth
// telling, or if one wave holds all CTAs.
std::string tail_text(const configs::Result& result, const configs::KernelResult& kernel);

}  // namespace warpfold::report
