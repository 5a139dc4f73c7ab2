#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace warpfold::test {

// Whether `count` of `runs` random programs can be `usual` (0 to 1) of them. It is denied only four standard deviations of the
// binomial distribution below, so that one round in thirty thousand fails by chance; `what` says of what there are too few.
testing::AssertionResult can_be_a_share(int count, int runs, double usual, std::string_view what);

}  // namespace warpfold::test
