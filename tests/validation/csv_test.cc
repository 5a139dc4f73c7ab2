#include "tools/validation/csv.h"

#include <gmock/gmock.h>

namespace warpfold::validation {
namespace {

std::string error_of(const std::string& text) {
  const auto table = parse_csv("d.csv", text);
  return table ? "parsed" : table.error().text();
}

TEST(Csv, KeepsWhereEachCellStands) {
  const auto table = parse_csv("d.csv", "# a comment, \"with a quote\nid,gpu\n\nS1,H100\r\nS2,\"A, \"\"B\"\"\nC\"\nS3,");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->rows.size(), 3);
  EXPECT_EQ(table->header[1].text, "gpu");
  EXPECT_EQ(table->rows[0][1].text, "H100");
  EXPECT_EQ(table->rows[1][1].text, "A, \"B\"\nC");
  EXPECT_EQ(table->rows[1][1].line, 5);
  EXPECT_EQ(table->rows[1][1].column, 4);
  EXPECT_EQ(table->rows[2][0].line, 7);
  EXPECT_EQ(table->rows[2][1].text, "");
}

TEST(Csv, NamesThePlaceOfAMistake) {
  EXPECT_EQ(error_of(""), "d.csv:1:1: no header: expected a line with the names of columns");
  EXPECT_EQ(error_of("id,gpu\nS1\n"), "d.csv:2:1: 1 cell, the header has 2");
  EXPECT_EQ(error_of("id,gpu\nS1,H100,3\n"), "d.csv:2:9: 3 cells, the header has 2");
  EXPECT_EQ(error_of("id,gpu\nS1,H\xff\n"), "d.csv:2:4: bytes that are no UTF-8");
  EXPECT_EQ(error_of("id,gpu\nS1,\"H100\n"), "d.csv:2:4: this quote is not closed");
  EXPECT_EQ(error_of("id,gpu\nS1,\"H100\"\""), "d.csv:2:4: this quote is not closed");
  EXPECT_EQ(error_of("id,gpu\nS1,\"H100\"x\n"), "d.csv:2:10: expected a comma after the closing quote");
  EXPECT_EQ(error_of("id,gpu\nS1,H\"100\n"), "d.csv:2:5: a quote inside a cell; put the whole cell in quotes and double it");
}

}  // namespace
}  // namespace warpfold::validation
