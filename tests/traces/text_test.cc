#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <utility>

#include "samples.h"
#include "traces/trace_file.h"

namespace warpfold::traces {
namespace {

using testing::HasSubstr;

TEST(Text, PrintsTheBytesItWasReadFrom) {
  const Expected<std::vector<Kernel>> kernels = parse_kernels("sample.wfs", kSampleText);
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(format_kernels(*kernels), kSampleText);
}

TEST(Text, NamesAndIndicesOfRingsCursorsAndStreamsAreTheSame) {
  std::string by_index = kSampleText;
  const std::pair<std::string, std::string> names[] = {{"barrier=full", "barrier=0"}, {"barrier=empty", "barrier=1"},
                                                       {"cursor=load", "cursor=0"},   {"cursor=use", "cursor=1"},
                                                       {"stream=A", "stream=0"},      {"stream=C", "stream=1"}};
  for (const auto& [name, index] : names) {
    for (size_t at = by_index.find(name); at != std::string::npos; at = by_index.find(name))
      by_index.replace(at, name.size(), index);
  }
  const Expected<std::vector<Kernel>> kernels = parse_kernels("sample.wfs", by_index);
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(kernels->at(0), sample());
}

TEST(Text, ReadsWhatItSays) {
  const Kernel kernel = sample();
  EXPECT_EQ(kernel.source, "by hand, \"m=512\"\n");
  EXPECT_EQ(kernel.flops, 34359738368);
  EXPECT_EQ(kernel.shared_memory_bytes, 131072);
  EXPECT_EQ(kernel.cluster_ctas, 2);
  EXPECT_EQ(kernel.cta_classes, (std::vector<CtaClass>{{"full", {2, 16}}, {"edge", {1, 3}}}));
  EXPECT_EQ(kernel.grid, (std::vector<CtaRun>{{0, 6}, {1, 2}, {0, 2}}));
  EXPECT_EQ(kernel.streams, (std::vector<MemoryStream>{{"A", false, 1, 8}, {"C", true, 1, 1, 4194304}}));
  EXPECT_EQ(kernel.rings, (std::vector<Ring>{{"full", 4, 1, false}, {"empty", 4, 256, true}}));
  EXPECT_EQ(kernel.cursors, (std::vector<Cursor>{{"load", 4, 0}, {"use", 4, 1}}));
  EXPECT_EQ(std::get<Loop>(kernel.roles[1].body[2]).trips, (TripCount{.literal = 1, .parameter = 0}));
  EXPECT_EQ(std::get<Loop>(std::get<Loop>(kernel.roles[1].body[2]).body[0]).trips, TripCount{.literal = 2});
}

TEST(Text, KeepsBlocksApartThatFollowEachOtherOrAreEmpty) {
  Kernel kernel = sample();
  const Block nop{{instruction("NOP ;")}};
  std::vector<Node>& body = kernel.roles[0].body;
  body.insert(body.begin(), {Block{}, nop, Block{}, Block{}, nop, Loop{.trips = {}, .body = {Block{}, nop}}, Block{}});
  const Expected<std::vector<Kernel>> back = parse_kernels("blocks.wfs", format_kernels({kernel}));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->at(0), kernel);
}

TEST(Text, HoldsSeveralKernels) {
  Kernel other = sample();
  other.name = "void other<float>(int*)\x01\x7f\\";
  other.source = "";
  other.flops = 0;
  const std::string text = format_kernels({sample(), other});
  const Expected<std::vector<Kernel>> back = parse_kernels("two.wfs", text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, (std::vector<Kernel>{sample(), other}));
  EXPECT_EQ(format_kernels(*back), text);
}

TEST(Text, WrapsLongGrids) {
  Kernel kernel = sample();
  for (uint64_t count = 1; count < 40; ++count) kernel.grid.push_back({1, 2 * count});
  const std::string text = format_kernels({kernel});
  const Expected<std::vector<Kernel>> back = parse_kernels("grid.wfs", text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->at(0), kernel);
  EXPECT_EQ(text.find('\n', text.find("grid")) - text.find("grid"),
            std::string("grid full*6 edge*2 full*2 edge*2 edge*4 edge*6 edge*8 edge*10").size());
}

TEST(Text, TakesCommentsBlankLinesAndOtherLayouts) {
  const std::string text =
      "# a comment\n\nkernel  x  cluster=1   architecture=sm_90\r\n\tclass all\n grid all * 2\n"
      "role a\n  # another\n  EXIT\n  end\nend";
  const Expected<std::vector<Kernel>> kernels = parse_kernels("loose.wfs", text);
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(format_kernels(*kernels), R"(kernel x architecture=sm_90 registers=32 shared_memory=0 cluster=1
  class all
  grid all*2
  role a warps=1
    [B------:R-:W-:-:S05] EXIT ;
  end
end
)");
}

// The use of a load's result waits for the load's counter. Fixed latencies, four cycles from one FADD to the next, become stall
// counts; latencies that reach across the end of the loop also need a NOP.
TEST(Text, GetsControlCodesWhereARoleHasNone) {
  const std::string text = R"(kernel x architecture=sm_90
  class all
  grid all*1
  stream A read dram=0/1
  role a
    MOV R2, 0x10
    loop 8
      block
      LDG.E R4, [R2.64] ; {bytes=128 stream=A}
      FADD R5, R4, R5
    end
    FADD R6, R5, R5
    EXIT
  end
end)";
  const Expected<std::vector<Kernel>> kernels = parse_kernels("bare.wfs", text);
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_THAT(format_kernels(*kernels), HasSubstr(R"(  role a warps=1
    [B------:R-:W-:-:S05] MOV R2, 0x10 ;
    loop 8
      [B------:R-:W0:-:S02] LDG.E R4, [R2.64] ; {bytes=128 stream=A}
      [B0-----:R-:W-:-:S02] FADD R5, R4, R5 ;
    end
    [B------:R-:W-:-:S02] NOP ;
    [B------:R-:W-:-:S01] FADD R6, R5, R5 ;
    [B------:R-:W-:-:S05] EXIT ;
  end
)"));
}

TEST(Text, RefusesARoleThatHasControlCodesInPart) {
  std::string text = kSampleText;
  const std::string code = "[B------:R-:W-:-:S04] IADD3";
  text.replace(text.find(code), code.size(), "IADD3");
  const Expected<std::vector<Kernel>> kernels = parse_kernels("part.wfs", text);
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("role producer has 1 instructions without a control code and 5 with one"));
  EXPECT_EQ(kernels.error().line, 24);
}

// The sample with `from` replaced by `to` fails at line:column with a message.
struct Case {
  std::string name;
  std::string from;
  std::string to;
  int line;
  int column;
  std::string message;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"Statement", "kernel sample", "kernal sample", 1, 1, R"(unknown statement "kernal"; did you mean "kernel"?)"},
      {"StatementInKernel", "  stream A", "  steam A", 7, 3,
       R"(unknown statement "steam" in kernel sample; did you mean "stream"?)"},
      {"KernelName", "kernel sample", "kernel 1", 1, 8, "expected the kernel's name, found \"1\""},
      {"KernelNameMissing", kSampleText, "kernel", 1, 7, "expected the kernel's name"},
      {"KernelOption", "registers=", "registrs=", 1, 34, R"(unknown option "registrs"; did you mean "registers"?)"},
      {"OptionTwice", "cluster=2", "cluster=2 cluster=2", 1, 79, "cluster is given twice"},
      {"NoArchitecture", "architecture=sm_90 ", "", 1, 107,
       "kernel sample needs architecture=...; known: sm_70, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, "
       "sm_120, sm_121"},
      {"Architecture", "sm_90", "sm_99", 1, 28, "sm_99"},
      {"NoEquals", "registers=168", "registers 168", 1, 44, "expected ="},
      {"NoNumber", "registers=168", "registers=many", 1, 44, "expected registers, a number; found \"many\""},
      {"NumberWithTail", "registers=168", "registers=168k", 1, 44, "expected registers, a number; found \"168k\""},
      {"NumberMissing", "arrivals=1\n", "arrivals=\n", 9, 30, "expected arrivals, a number"},
      {"LargeNumber", "registers=168", "registers=4294967296", 1, 44, "registers 4294967296 is more than 4294967295"},
      {"HugeNumber", "flops=34359738368", "flops=34359738368000000000", 1, 85, "is more than 18446744073709551615"},
      {"Quote", R"(\"m=512\"\n")", R"(\"m=512\")", 1, 104, "the double quotes around source are not closed"},
      {"NoQuote", "source=\"by hand", "source=by\"", 1, 104, "expected source in double quotes"},
      {"Escape", R"(\"\n")", R"(\q\n")", 1, 121, R"(unknown escape)"},
      {"HexEscape", R"(\"\n")", R"(\x1g\n")", 1, 121, R"(unknown escape)"},
      {"ParameterName", "parameter tiles", "parameter 4", 2, 13, "expected the parameter's name, found \"4\""},
      {"LineEnd", "parameter tiles", "parameter tiles more", 2, 19, "expected the end of the line, found \"more\""},
      {"ClassParameter", "tiles=2 steps=16", "tile=2 steps=16", 4, 14, R"(unknown option "tile"; did you mean "tiles"?)"},
      {"ClassIncomplete", "tiles=2 steps=16", "tiles=2", 4, 21, "class full needs steps=..."},
      {"GridClass", "full*6", "ful*6", 6, 8, R"(unknown class "ful"; did you mean "full"?)"},
      {"GridStar", "full*6", "full 6", 6, 13, "expected *"},
      {"GridCount", "full*6", "full*x", 6, 13, "expected CTAs, a number; found \"x\""},
      {"StreamOption", "A read", "A raed", 7, 12, R"(unknown option "raed"; did you mean "read"?)"},
      {"StreamShare", "dram=1/8", "dram=1", 7, 23, "expected /"},
      {"RingOption", "arrivals=256 free", "arrivals=256 fre", 10, 35, R"(unknown option "fre"; did you mean "free"?)"},
      {"CursorOption", "start=0", "begin=0", 11, 23, R"(unknown option "begin")"},
      {"RoleOption", "producer warps=4", "producer warp=4", 13, 17, R"(unknown option "warp"; did you mean "warps"?)"},
      {"LoopParameter", "loop steps", "loop stps", 17, 12, R"(unknown parameter "stps"; did you mean "steps"?)"},
      {"LoopMissing", "loop steps", "loop", 17, 11, "expected the name of a parameter"},
      {"LoopNumber", "loop 2", "loop 2x", 29, 12, "expected trips, a number; found \"2x\""},
      {"Opcode", "IADD3 R4", "IADD4 R4", 16, 29, R"(unknown opcode "IADD4")"},
      {"Modifier", "IADD3 R4", "MUFU.FOO R4", 16, 29, R"(unknown modifiers of "MUFU.FOO")"},
      {"Operand", "R4, R4, 0x1", "R4, R999, 0x1", 16, 39, "R999"},
      {"Control", "S04] IADD3", "S44] IADD3", 16, 25, "bad control code"},
      {"Effect", "{count=24}", "{cuont=24}", 14, 62, R"(unknown effect "cuont"; did you mean "count"?)"},
      {"StreamName", "stream=C}", "stream=D}", 37, 91, R"(unknown stream "D")"},
      {"RingName", "barrier=empty cursor=load", "barrier=emtpy cursor=load", 18, 86,
       R"(unknown barrier "emtpy"; did you mean "empty"?)"},
      {"NamedBarrierByName", "{barrier=1 count", "{barrier=full count", 36, 74, R"(unknown barrier "full")"},
      {"Invalid", "count=24", "count=23", 14, 5,
       "kernel sample: role producer: instruction 1 (USETMAXREG.DEALLOC.CTAPOOL): count=23"},
      {"InvalidRing", "full depth=4", "full depth=0", 9, 3, "kernel sample: ring full: depth 0"},
      {"InvalidStream", "dram=1/1", "dram=2/1", 8, 3, "kernel sample: stream C: 2/1"},
      {"InvalidL1Share", "dram=1/8", "dram=1/8 l1=3/2", 7, 3, "kernel sample: stream A: 3/2 of the requests hit in L1"},
      {"StoresInL1", "dram=1/1", "dram=1/1 l1=1/2", 8, 3, "kernel sample: stream C: stores go to L2"},
      {"BulkCopiesInL1", "dram=1/8", "dram=1/8 l1=1/2", 20, 9,
       "kernel sample: role producer: instruction 5 (UTMALDG.2D.MULTICAST): stream A hits in L1"},
      {"InvalidGrid", "edge*2", "edge*0", 6, 3, "kernel sample: grid: 0 CTAs of class edge"},
      {"SecondRole", "role consumer", "role producer", 25, 3, "kernel sample: the role producer exists twice"},
      {"InvalidInstruction", "stream=C}", "stream=7}", 37, 7, "kernel sample: role consumer: instruction 8 (STG.E.128): stream 7"},
      {"NoBytes", "{bytes=512 stream=C}", "{stream=C}", 37, 7,
       "kernel sample: role consumer: instruction 8 (STG.E.128): no bytes: state bytes=N"},
      {"InvalidLoop", "loop 2", "loop 0", 30, 9, "kernel sample: role consumer: loop before instruction 2: 0 trips"},
      {"InvalidWhole", "cluster=2", "cluster=3", 1, 1, "kernel sample: 10 CTAs are not whole clusters of 3"},
      {"ExtraEnd", "end\nend\n", "end\nend\nend\n", 43, 1, R"(unknown statement "end")"},
      {"OpenKernel", "  end\nend\n", "  end\n", 41, 1, "the text ends inside kernel sample; expected end"},
      {"OpenRole", "  end\nend\n", "", 40, 1, "the text ends inside kernel sample and its role consumer; expected end"},
      {"Nothing", kSampleText, "# nothing\n", 1, 1, "no kernels"},
  };
  return all;
}

class RefusedText : public testing::TestWithParam<Case> {};

TEST_P(RefusedText, AtTheOffendingPart) {
  const Case& each = GetParam();
  std::string text = kSampleText;
  const size_t at = text.find(each.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, each.from.size(), each.to);
  const Expected<std::vector<Kernel>> kernels = parse_kernels("sample.wfs", text);
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr(each.message));
  EXPECT_EQ(kernels.error().file, "sample.wfs");
  EXPECT_EQ(kernels.error().line, each.line);
  EXPECT_EQ(kernels.error().column, each.column);
}

INSTANTIATE_TEST_SUITE_P(Text, RefusedText, testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

TEST(Text, RefusesLoopsThatNestTooDeep) {
  std::string text = "kernel x architecture=sm_90\n class all\n grid all*1\n role a\n";
  for (int depth = 0; depth < 100000; ++depth) text += "loop 1\n";
  const Expected<std::vector<Kernel>> kernels = parse_kernels("deep.wfs", text);
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().line, 4 + 9);
  EXPECT_THAT(kernels.error().message, HasSubstr("more than 8 loops inside each other"));
}

TEST(Text, NoCutOrSpoiltTextCrashes) {
  constexpr std::string_view kSpoilers("\0\"= \n9}", 7);
  for (size_t at = 0; at < kSampleText.size(); ++at) {
    EXPECT_FALSE(at + 1 < kSampleText.size() && parse_kernels("cut.wfs", kSampleText.substr(0, at))) << at;
    std::string text = kSampleText;
    text[at] = kSpoilers[at % kSpoilers.size()];
    const Expected<std::vector<Kernel>> kernels = parse_kernels("spoilt.wfs", text);
    if (kernels) {
      EXPECT_EQ(parse_kernels("again.wfs", format_kernels(*kernels)).value(), *kernels) << text;
    } else {
      EXPECT_FALSE(kernels.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace warpfold::traces
