#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "configs/pipes.h"
#include "tests/source_dir.h"
#include "tools/report/names.h"

namespace warpfold::report {
namespace {

TEST(Pipes, HaveTheirOwnWords) {
  for (const configs::PipeRow& row : configs::kMathPipes) EXPECT_EQ(resource_words(row.name), row.words);
}

// A resource that no group of the chart names counts as a math pipe.
TEST(Pipes, AreMathPipesInTheChartOfResources) {
  std::ifstream file(WARPFOLD_SOURCE_DIR "/tools/report/page/resources.js");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const configs::PipeRow& row : configs::kMathPipes) {
    EXPECT_EQ(page.find("'" + std::string(row.name) + "'"), std::string::npos) << row.name << " is in a group of resourceGroups";
  }
}

}  // namespace
}  // namespace warpfold::report
