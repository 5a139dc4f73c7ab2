#pragma once

#include <string>
#include <vector>

// A published statement beside our computed figure. Nothing in the repository is fitted to such a statement.
namespace warpfold::test {

struct Claim {
  std::string statement;  // "overlap over sequential, Llama-3-like"
  double published;
  double computed;
};

// Prints the claim with its relative difference and fails where that is larger than `percent`.
void expect_within_percent(const Claim& claim, double percent);
// Prints the claim and fails where it is outside [low, high].
void expect_between(const Claim& claim, double low, double high);

// Expects a statement that the model misses. Fails unless docs/validation/paper.md lists the miss: a row that begins with the
// statement and has the figure as computed now, with three decimals. Also fails if the figure is in [low, high]: a statement that
// is met again must leave the list.
void expect_listed_miss(const Claim& claim, double low, double high);
// The same for a statement about names, any of which would do: limiters in order.
void expect_listed_miss(const std::string& statement, const std::vector<std::string>& published, const std::string& computed);

}  // namespace warpfold::test
