#include "tests/support/same_outcome.h"

#include "sim/plan/outcome_difference.h"
#include "tests/support/machine.h"

namespace warpfold::test {

std::string difference(const sim::Outcome& one, const sim::Outcome& other) {
  const auto found = sim::first_difference(one, other);
  if (!found) return "";
  const std::string kernel = found->kernel ? text({"kernel ", std::to_string(*found->kernel), " "}) : "";
  return text({kernel, found->figure, ": ", std::to_string(found->one), " against ", std::to_string(found->other)});
}

}  // namespace warpfold::test
