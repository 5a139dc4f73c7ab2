#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::report {

// Returns the number of waves in which CTAs fill the SMs: all CTAs over the CTAs that fit at a time. The last wave, the tail, may
// leave room empty.
double waves_of(const configs::Result& result, const configs::KernelResult& kernel);

// Returns "1.45 waves of CTAs: the last one fills 45 % of the chip"; empty if the tail leaves less room empty than is worth
// telling, or if one wave holds all CTAs.
std::string tail_text(const configs::Result& result, const configs::KernelResult& kernel);

}  // namespace warpfold::report
