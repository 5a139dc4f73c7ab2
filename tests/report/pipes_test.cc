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

// A resource that is in no group counts as memory of the chip.
TEST(Pipes, AreInTheChartOfResources) {
  std::ifstream file(WARPFOLD_SOURCE_DIR "/tools/report/page/resources.js");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const configs::PipeRow& row : configs::kPipeTable) {
    if (row.words.empty()) continue;
    EXPECT_NE(page.find("'" + std::string(row.name) + "'"), std::string::npos) << row.name << " has no group in resourceGroups";
  }
}

}  // namespace
}  // namespace warpfold::report
