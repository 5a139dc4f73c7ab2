#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "configs/result.pb.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/slowdown_table.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {
namespace {

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(with_thousands("0"), "0");
  EXPECT_EQ(with_thousands("999"), "999");
  EXPECT_EQ(with_thousands("1000"), "1,000");
  EXPECT_EQ(with_thousands("12345678.25"), "12,345,678.25");
  EXPECT_EQ(with_thousands("-123456"), "-123,456");
  EXPECT_EQ(with_thousands("-123"), "-123");
}

TEST(Numbers, KeepTheDigitsThatAreAskedFor) {
  EXPECT_EQ(fixed(1.005, 2), "1.00");
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(1234.5, 3), "1234.500");
}

Table sample() {
  Table table({"kernel", "cycles", "note"});
  table.add({"gemm", uint64_t{1234567}, R"(a, "b")"});
  table.add({"rng", uint64_t{8}, "\xc3\xa9t\xc3\xa9"});
  return table;
}

TEST(Tables, AlignNumbersRightAndTextLeft) {
  EXPECT_EQ(sample().aligned("  "),
            "  kernel     cycles  note\n"
            "  gemm    1,234,567  a, \"b\"\n"
            "  rng             8  \xc3\xa9t\xc3\xa9\n");
}

TEST(Tables, QuoteInCsvAsRfc4180Says) {
  EXPECT_EQ(sample().csv(), "kernel,cycles,note\ngemm,1234567,\"a, \"\"b\"\"\"\nrng,8,\xc3\xa9t\xc3\xa9\n");
}

TEST(Tables, AreObjectsInJson) {
  EXPECT_EQ(sample().json(),
            "[\n  {\"kernel\": \"gemm\", \"cycles\": 1234567, \"note\": \"a, \\\"b\\\"\"},\n"
            "  {\"kernel\": \"rng\", \"cycles\": 8, \"note\": \"\xc3\xa9t\xc3\xa9\"}\n]\n");
  EXPECT_EQ(Table({"a"}).json(), "[]\n");
}

TEST(Tables, RefuseRowsOfAnotherLength) {
  Table table({"one", "two"});
  EXPECT_THROW(table.add({"only"}), std::logic_error);
}

TEST(Slowdowns, SumToAllWithTheCausesThatAreTooSmallForARow) {
  configs::Result result;
  configs::KernelResult& kernel = *result.add_kernels();
  kernel.set_name("gemm");
  configs::Slowdown& slowdown = *kernel.mutable_slowdown();
  slowdown.set_solo_cycles(9000);
  slowdown.set_cycles(10000);
  for (const double cycles : {991.0, 5.0, 4.0}) {
    configs::Loss& loss = *slowdown.add_losses();
    loss.set_kind("rest");
    loss.set_cycles(cycles);
  }
  EXPECT_EQ(slowdown_table(result).csv(),
            "kernel,cause,culprit,resource,cycles,% of slowdown\n"
            "gemm,rest,-,-,991,99.1\n"
            "gemm,smaller ones,-,-,9,0.9\n"
            "gemm,all,-,-,1000,100.0\n");
}

TEST(Slowdowns, OfLessThanOnePercentHaveNoCauses) {
  configs::Result result;
  configs::Slowdown& slowdown = *result.add_kernels()->mutable_slowdown();
  slowdown.set_solo_cycles(10000);
  slowdown.add_losses()->set_cycles(99);
  slowdown.set_cycles(10099);
  EXPECT_TRUE(slowdown_table(result).empty());
  slowdown.set_cycles(10101);
  EXPECT_FALSE(slowdown_table(result).empty());
}

TEST(Json, WritesTheShortestNumbers) {
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(4.175), "4.175");
  EXPECT_EQ(json_number(0), "0");
  EXPECT_EQ(json_number(1e22), "1e+22");
  EXPECT_THROW(json_number(std::numeric_limits<double>::infinity()), std::logic_error);  // JSON has no word for it
  EXPECT_THROW(json_number(std::numeric_limits<double>::quiet_NaN()), std::logic_error);
}

TEST(Json, WritesCountersAsNumbersAndEnumsAsNames) {
  configs::Provenance provenance;
  provenance.set_version("1");
  configs::Kernel& kernel = *provenance.mutable_scenario()->add_kernel();
  kernel.set_priority(-2);
  kernel.mutable_philox()->set_heads(std::numeric_limits<uint64_t>::max());
  kernel.add_after(std::string("first"));
  provenance.mutable_scenario()->mutable_policy()->set_kind(configs::CONCURRENT);
  EXPECT_EQ(to_json(provenance),
            "{\n"
            "  \"version\": \"1\",\n"
            "  \"command_line\": \"\",\n"
            "  \"scenario\": {\n"
            "    \"parameter\": [],\n"
            "    \"kernel\": [\n"
            "      {\n"
            "        \"priority\": -2,\n"
            "        \"after\": [\n"
            "          \"first\"\n"
            "        ],\n"
            "        \"tensor\": [],\n"
            "        \"philox\": {\n"
            "          \"heads\": 18446744073709551615\n"
            "        }\n"
            "      }\n"
            "    ],\n"
            "    \"policy\": {\n"
            "      \"kind\": \"CONCURRENT\",\n"
            "      \"reserve\": [],\n"
            "      \"sm_share\": [],\n"
            "      \"quota\": []\n"
            "    },\n"
            "    \"set\": [],\n"
            "    \"unset\": [],\n"
            "    \"compare\": []\n"
            "  },\n"
            "  \"trace_hash\": []\n"
            "}\n");
}

TEST(CommandLine, QuotesWhatAShellWouldSplit) {
  EXPECT_EQ(command_line("warpfold", {"simulate", "a b.textproto", "--set", "seq=3", "it's", ""}),
            "warpfold simulate 'a b.textproto' --set seq=3 'it'\\''s' ''");
}

}  // namespace
}  // namespace warpfold::cli
