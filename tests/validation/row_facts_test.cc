#include "tools/validation/row_facts.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "rows.h"

namespace warpfold::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RowFacts, NumbersOfAPhraseAreFields) {
  const RowPhrases row = read_phrases("SM clock 1245 MHz; idle 76 W", "");
  EXPECT_EQ(row.facts.clock_mhz, 1245);
  EXPECT_EQ(row.facts.idle_w, 76);
  EXPECT_THAT(row.unread, IsEmpty());
}

TEST(RowFacts, AreTheSameInDimsOtherAndNotes) {
  EXPECT_EQ(read_phrases("", "SM clock 1245 MHz").facts.clock_mhz, 1245);
  EXPECT_EQ(read_phrases("", "timer=graph").facts.named.at("timer"), "graph");
}

TEST(RowFacts, ALaunchHasItsAxes) {
  const RowFacts facts = read_phrases("grid=30x4x1;block=384x1x1;regs=168;smem=231424", "").facts;
  EXPECT_EQ(facts.grid_x, 30);
  EXPECT_EQ(facts.grid_y, 4);
  EXPECT_EQ(facts.block_x, 384);
  EXPECT_EQ(facts.registers, 168);
  EXPECT_EQ(facts.shared_bytes, 231424);
}

TEST(RowFacts, AnotherLaunchAndTheTimeAloneAreRead) {
  const RowFacts facts =
      read_phrases("grid=56x32x1", "n=2;beside ep::combine<8, 16> grid=20x1x1 block=800x1x1;alone_median=41.5(n=2)").facts;
  EXPECT_EQ(facts.named.at("launch beside"), "ep::combine<8, 16> grid=20x1x1 block=800x1x1");
  EXPECT_EQ(facts.alone_us, 41.5);
  EXPECT_EQ(facts.grid_x, 56);
}

TEST(RowFacts, MembersOfAnObjectAreNames) {
  const RowFacts facts = read_phrases(R"(H=1024; {"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-6})", "").facts;
  EXPECT_EQ(facts.named.at("H"), "1024");
  EXPECT_EQ(facts.named.at("M"), "2048");
  EXPECT_EQ(facts.named.at("dtype"), "torch.bfloat16");
}

TEST(RowFacts, AnAliasSaysWhatItMeans) {
  const RowPhrases row = read_phrases("", "triton do_bench");
  EXPECT_EQ(row.facts.named.at("timer"), "events");
  EXPECT_EQ(row.facts.named.at("flush_bytes"), "268435456");
  ASSERT_EQ(row.read.size(), 2);
  EXPECT_EQ(row.read.front().text, "triton do_bench");
}

TEST(RowFacts, UnitsAreThoseOfTheField) {
  EXPECT_EQ(read_phrases("", "ncu SM clock 1.5 GHz").facts.clock_mhz, 1500);
  EXPECT_EQ(read_phrases("footprint 2 MB each", "").facts.copied_kb, 2048);
}

TEST(RowFacts, AnUnknownPhraseIsListed) {
  EXPECT_THAT(read_phrases("SM clock 1245 MHz; fan at 80 %", "moon phase 3").unread, ElementsAre("fan at 80 %", "moon phase 3"));
  EXPECT_THAT(read_phrases("my_name=3", "").unread, ElementsAre("my_name=3"));
  EXPECT_THAT(read_phrases(";; ;", " ").unread, IsEmpty());
}

TEST(RowFacts, TheFirstOfTwoContradictingPhrasesWins) {
  const RowPhrases row = read_phrases("clock 1200 MHz", "clock locked 1410 MHz");
  EXPECT_EQ(row.facts.clock_mhz, 1200);
  EXPECT_THAT(row.contradicts, ElementsAre("clock locked 1410 MHz"));
  EXPECT_THAT(read_phrases("clock 1200 MHz", "clock locked 1200 MHz").contradicts, IsEmpty());
  EXPECT_THAT(read_phrases("timer=events;timer=graph", "").contradicts, ElementsAre("timer=graph"));
}

TEST(RowFacts, FormsHaveNoNumbers) {
  EXPECT_EQ(form_of("SM clock 1245 MHz"), "SM clock # MHz");
  EXPECT_EQ(form_of("idle 81.03 W"), "idle # W");
}

// phrases.tsv: of every form of the gathered rows, a field or a line of prose.txt.
TEST(RowFacts, EveryPhraseOfTheGatheredRowsIsReadOrProse) {
  std::ifstream file(WARPFOLD_SOURCE_DIR "/tests/validation/phrases.tsv");
  size_t phrases = 0;
  size_t read = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string::npos) continue;
    const bool dims = line.starts_with("dims_other");
    const std::string phrase = line.substr(tab + 1);
    const RowPhrases row = dims ? read_phrases(phrase, "") : read_phrases("", phrase);
    EXPECT_THAT(row.unread, IsEmpty()) << phrase;
    EXPECT_THAT(row.contradicts, IsEmpty()) << phrase;
    ++phrases;
    if (!row.read.empty()) ++read;
  }
  EXPECT_GT(phrases, 600);
  EXPECT_GT(read, 150);
}

TEST(RowFacts, EveryPhraseOfTheRepositorysRowsIsReadOrProse) {
  size_t rows = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WARPFOLD_SOURCE_DIR "/tests/validation")) {
    if (entry.path().extension() != ".csv") continue;
    const auto read = read_measured_rows(entry.path().string());
    ASSERT_TRUE(read) << read.error().text();
    for (const MeasuredRow& row : *read) {
      EXPECT_THAT(row.phrases().unread, IsEmpty()) << row.id();
      EXPECT_THAT(row.phrases().contradicts, IsEmpty()) << row.id();
      ++rows;
    }
  }
  EXPECT_GT(rows, 900);
}

const std::string kPower = "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit,notes";

TEST_F(Rows, AStatedClockIsTheRunsClock) {
  const Comparison gemm = map(kGemm + ",notes", "S1,GEMM,H100,bf16,4096,4096,4096,0.2,ms,,locked clock 1410 MHz");
  EXPECT_EQ(gemm.runs.front().scenario.gpu().clock_mhz(), 1410);
  EXPECT_THAT(gemm.unfollowed, IsEmpty());
  const Comparison column = map(kGemm + ",clock_mhz,notes", "S1,GEMM,H100,bf16,4096,4096,4096,0.2,ms,,1200,locked clock 1410 MHz");
  EXPECT_EQ(column.runs.front().scenario.gpu().clock_mhz(), 1200);
}

TEST_F(Rows, AStatedClockLimitsBoardPower) {
  const Comparison power = map(kPower, "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,SM clock 1200 MHz,340,W,");
  EXPECT_EQ(power.runs.front().scenario.gpu().power().clock_limit_mhz(), 1200);
  const Comparison requested =
      map(kPower,
          "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,,400,W,\"locked clock 1290 MHz (1380 requested, throttled)\"");
  EXPECT_EQ(requested.runs.front().scenario.gpu().power().clock_limit_mhz(), 1380);
  const Comparison clock = map(kPower, "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,SM clock 1290 MHz,1290,MHz,");
  EXPECT_EQ(clock.runs.front().scenario.gpu().power().clock_limit_mhz(), 1410) << "the figure of the row is no limit";
}

TEST_F(Rows, IdlePowerScalesStaticPower) {
  const std::string cells = "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,";
  const auto points = [&](const std::string& dims) {
    return map(kPower, cells + dims + ",340,W,").runs.front().scenario.gpu().power().point();
  };
  const auto published = points("SM clock 1200 MHz");
  const auto scaled = points("SM clock 1200 MHz; idle 149.2 W");
  ASSERT_EQ(scaled.size(), published.size());
  for (int p = 0; p < scaled.size(); ++p) EXPECT_NEAR(scaled[p].static_w(), 2 * published[p].static_w(), 1e-9);
}

TEST_F(Rows, IdlePowerWithoutItsClockIsNotFollowed) {
  const Comparison power = map(kPower, "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,idle 76 W,340,W,");
  EXPECT_THAT(power.unfollowed, ElementsAre("idle 76 W"));
}

TEST_F(Rows, APowerLimitIsTheCap) {
  const Comparison power = map(kPower, "S1,POWER,A100-SXM4-40GB,GEMM,cuBLAS,bf16,4096,8192,8192,,250,W,power limit 250 W");
  EXPECT_EQ(power.runs.front().scenario.gpu().power().cap_w(), 250);
}

TEST_F(Rows, StatedSmsAreTheGpus) {
  const std::string header = kGemm + ",dims_other";
  const Comparison gemm = map(header, "S1,GEMM,A100,bf16,4096,4096,4096,2,ms,,SMs available=27");
  EXPECT_EQ(gemm.runs.front().scenario.gpu().sm_count(), 27);
  EXPECT_EQ(mistake(header + "\nS1,GEMM,A100,bf16,4096,4096,4096,2,ms,,SMs available=109\n"),
            "reason: dims_other: SMs: expected a whole number from 1 to the GPU's 108");
}

TEST_F(Rows, AWarmL2IsTheKernels) {
  const Comparison gemm = map(kGemm + ",notes", "S1,GEMM,H100,bf16,4096,4096,4096,0.2,ms,,hot cache");
  EXPECT_EQ(gemm.runs.front().scenario.kernel(0).l2(), configs::WARM);
  EXPECT_EQ(mistake(kGemm + ",notes\nS1,GEMM,H100,bf16,4096,4096,4096,0.2,ms,,l2=tepid\n"),
            "reason: dims_other: l2=tepid; expected l2=warm or l2=cold");
}

TEST_F(Rows, AProfilersTimeHasTheKernelsStartAndEnd) {
  const std::string cells = "S1,ATTN,H100,attention fwd,FlashAttention-3,fp16,16,16,1024,128,0,565,TFLOPS,";
  const Comparison kernel = map(kAttention + ",notes", cells + "CUPTI kernel duration");
  const configs::Gpu& gpu = kernel.runs.front().scenario.gpu();
  EXPECT_DOUBLE_EQ(kernel.launches_us, gpu.graph_launch_cycles() / gpu.clock_mhz());
  EXPECT_DOUBLE_EQ(map(kAttention + ",notes", cells).launches_us, gpu.kernel_launch_cycles() / gpu.clock_mhz());
}

TEST_F(Rows, OneCtaOnOneSmHasItsTileAndStages) {
  const Comparison gemm =
      map("id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit",
          "MB,GEMM,B200,\"mainloop, one CTA on one SM\",CUTLASS,bf16,64,16,131072,tile=64x16x32;stages=5;grid=1,0.4,ms");
  const configs::BlackwellGemm& is = gemm.runs.front().scenario.kernel(0).blackwell_gemm();
  EXPECT_EQ(is.tile_m(), 64);
  EXPECT_EQ(is.tile_n(), 16);
  EXPECT_EQ(is.tile_k(), 32);
  EXPECT_EQ(is.stages(), 5);
  EXPECT_THAT(gemm.unfollowed, IsEmpty());
}

TEST_F(Rows, FactsThatARunDoesNotFollowAreListed) {
  const Comparison gemm = map(kGemm + ",dims_other", "S1,GEMM,H100,bf16,4096,4096,4096,0.2,ms,,grid=30x4x1;n=3");
  EXPECT_THAT(gemm.unfollowed, ElementsAre("grid=30x4x1"));
}

TEST_F(Rows, AFigureThatIsNoSinglePositiveNumberIsNotMapped) {
  const std::string header = "id,category,gpu,dtype,M,N,K,value,unit\nS1,GEMM,H100,bf16,4096,4096,4096,";
  EXPECT_EQ(mistake(header + "1.7-2.3,x\n"), "reason: the figure \"1.7-2.3\" is no single positive number");
  EXPECT_EQ(mistake(header + "-10.6,%\n"), "reason: the figure \"-10.6\" is no single positive number");
  EXPECT_THAT(mistake(header + "-10.6,us\n"), HasSubstr("expected a number from 1e-9"));
}

TEST_F(Rows, ABatchIsSoManyProducts) {
  const std::string header = "id,category,gpu,impl,dtype,batch,M,N,K,value,unit";
  const Comparison gemm = map(header, "S1,GEMM,H100,torch.bmm,bf16,96,512,512,64,1,ms");
  EXPECT_EQ(gemm.runs.front().scenario.kernel(0).hopper_gemm().grouped().groups(), 96);
  EXPECT_EQ(gemm.runs.front().scenario.kernel(0).hopper_gemm().grouped().layout(), configs::BATCHED);
  EXPECT_DOUBLE_EQ(gemm.work, 96 * 2.0 * 512 * 512 * 64);
  EXPECT_EQ(mistake(header + "\nS1,GEMM,A100,torch.bmm,bf16,96,512,512,64,1,ms\n"), "reason: no grouped GEMM for sm_80");
}

TEST_F(Rows, AHandWrittenKernelIsNoLibrarys) {
  const std::string header = "id,category,gpu,impl,dtype,M,N,K,value,unit,set\n";
  EXPECT_EQ(mistake(header + "S1,GEMM,H100,\"hand-written, source in repository\",bf16,4096,4096,4096,4,ms,\n"),
            "reason: a hand-written kernel is no library's: name its kernel_file, or its tile (set)");
  EXPECT_EQ(mistake(header + "S1,GEMM,H100,hand-written,bf16,4096,4096,4096,4,ms,tile_m=128\n"), "mapped");
  EXPECT_EQ(mistake(header + "S1,GEMM,H100,fast.cu hand-written kernel,bf16,4096,4096,4096,4,ms,\n"), "mapped");
}

TEST_F(Rows, AnIdleBoardRunsNoKernel) {
  EXPECT_EQ(mistake(kPower + "\nS1,POWER,A100,GEMM,idle,bf16,8192,8192,8192,,88,W,\n"),
            "reason: the board was idle: no kernel ran");
}

}  // namespace
}  // namespace warpfold::validation
