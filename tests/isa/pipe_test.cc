#include "isa/pipe.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "isa/opcode_table.pb.h"

namespace warpfold::isa {
namespace {

TEST(Pipes, AreNamedAsInOpcodeTables) {
  for (const PipeRow& row : configs::kPipeTable) {
    std::string expected = "PIPE_";
    for (const char c : row.name) expected += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(table::PipeName_Name(static_cast<table::PipeName>(row.pipe)), expected);
  }
}

// A row that was copied and not changed completely would give a pipe a property of another pipe.
TEST(Pipes, HaveNothingInCommon) {
  const auto all_differ = [](auto member) {
    std::set<std::string_view> seen;
    for (const PipeRow& row : kMathPipes) {
      const std::string_view value = row.*member;
      EXPECT_TRUE(value.empty() || seen.insert(value).second) << row.name << ": " << value;
    }
  };
  for (const auto member : {&PipeRow::name, &PipeRow::contended, &PipeRow::words, &PipeRow::throughput, &PipeRow::rate,
                            &PipeRow::latency, &PipeRow::admission}) {
    all_differ(member);
  }
}

// "sub_core.alu.scale" and "sub_core.alu_admission_entries" are of "alu".
TEST(Pipes, HaveFactorsOfTheirOwnName) {
  for (const PipeRow& row : kMathPipes) {
    const std::string name(row.name);
    EXPECT_TRUE(row.rate == "sub_core." + name + ".scale" || row.rate == "sm." + name + ".scale") << row.rate;
    EXPECT_TRUE(row.latency.empty() || row.latency == "sub_core." + name + ".latency_scale") << row.latency;
    EXPECT_TRUE(row.admission.empty() || row.admission == "sub_core." + name + "_admission_entries") << row.admission;
  }
}

}  // namespace
}  // namespace warpfold::isa
