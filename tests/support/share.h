#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace warpfold::test {

// Tests whether `count` of `runs` random programs can be a share of `usual` (0 to 1). Fails only four standard deviations of the
// binomial distribution below, so that one round in thirty thousand fails by chance. `what` names the programs that are too few.
testing::AssertionResult can_be_a_share(int count, int runs, double usual, std::string_view what);

}  // namespace warpfold::test
