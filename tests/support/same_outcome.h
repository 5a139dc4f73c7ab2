#pragma once

#include <string>

#include "sim/gpu/simulate.h"

namespace warpfold::test {

// The first field in which two outcomes differ, with both values; empty: they are the same in every field but `fold` and
// `timeline`.
std::string difference(const sim::Outcome& one, const sim::Outcome& other);

}  // namespace warpfold::test
