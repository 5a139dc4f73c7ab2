#include "tests/support/share.h"

#include <cmath>

namespace warpfold::test {

testing::AssertionResult can_be_a_share(int count, int runs, double usual, std::string_view what) {
  const double expected = runs * usual;
  if (count >= expected - 4 * std::sqrt(expected * (1 - usual))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "only " << count << " of " << runs << " programs " << what << ", usually " << expected;
}

}  // namespace warpfold::test
