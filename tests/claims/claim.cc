#include "tests/claims/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "tests/source_dir.h"

namespace warpfold::test {
namespace {

std::string decimals(double number) {
  std::ostringstream digits;
  digits << std::fixed << std::setprecision(3) << number;
  return digits.str();
}

void print(const Claim& claim) {
  std::ostringstream line;
  line << claim.statement << ": published " << claim.published << ", computed " << decimals(claim.computed) << " (" << std::showpos
       << std::fixed << std::setprecision(1) << 100 * (claim.computed / claim.published - 1) << " %)\n";
  std::cout << line.str();
}

bool listed(const std::string& statement, const std::string& figure) {
  std::ifstream document(WARPFOLD_SOURCE_DIR "/docs/validation/paper.md");
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| " + statement + " |") && line.find(figure) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void expect_within_percent(const Claim& claim, double percent) {
  print(claim);
  EXPECT_LE(std::abs(claim.computed / claim.published - 1), percent / 100) << claim.statement;
}

void expect_between(const Claim& claim, double low, double high) {
  print(claim);
  EXPECT_GE(claim.computed, low) << claim.statement;
  EXPECT_LE(claim.computed, high) << claim.statement;
}

void expect_listed_miss(const Claim& claim, double low, double high) {
  print(claim);
  EXPECT_TRUE(claim.computed < low || claim.computed > high) << claim.statement << " is met: make it a check";
  EXPECT_TRUE(listed(claim.statement, decimals(claim.computed)))
      << "docs/validation/paper.md has no row \"| " << claim.statement << " |\" with " << decimals(claim.computed);
}

void expect_listed_miss(const std::string& statement, const std::vector<std::string>& published, const std::string& computed) {
  std::cout << statement << ": published " << published.front() << (published.size() > 1 ? " and others" : "") << ", computed "
            << computed << "\n";
  EXPECT_THAT(published, testing::Not(testing::Contains(computed))) << statement << " is met: make it a check";
  EXPECT_TRUE(listed(statement, computed)) << "docs/validation/paper.md has no row \"| " << statement << " |\" with " << computed;
}

}  // namespace warpfold::test
