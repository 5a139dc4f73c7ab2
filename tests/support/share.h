#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace warpfold::test {

// Succeeds if `count` of `runs` random programs is plausible for a share of `usual` (0 to 1). Fails only four standard
// deviations of the binomial distribution below it, so by chance in one round of thirty thousand. `what` says in the
// message how the programs behave.
testing::AssertionResult can_be_a_share(int count, int runs, double usual, std::string_view what);

}  // namespace warpfold::test
