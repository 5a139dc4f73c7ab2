// Which questions of the page become which command, and which are refused.

#include "tools/warpfold/serve/question.h"

#include <gmock/gmock.h>

namespace warpfold::serve {
namespace {

using testing::HasSubstr;

const Names kNames{{"small", "own dir/mine.textproto"}, {"h100_sxm", "h200_sxm"}, {"llama3_8b"}};

Expected<Question> read(const std::string& lines, const std::string& ask = "simulate", const std::string& scenario = "small") {
  return read_question("ask " + ask + "\nscenario " + scenario + "\n" + lines, kNames);
}

std::string command(const std::string& lines, const std::string& ask = "simulate", const std::string& scenario = "small") {
  const auto question = read(lines, ask, scenario);
  return question ? question->command() : "refused: " + question.error().message;
}

std::string refused(const std::string& lines, const std::string& ask = "simulate", const std::string& scenario = "small") {
  const auto question = read(lines, ask, scenario);
  return question ? "taken: " + question->command() : question.error().message;
}

TEST(Question, IsACommandLine) {
  EXPECT_EQ(command("policy CARVE_OUT\ngpu h200_sxm\nset kernel.rng.philox.rounds=10\nunset kernel.copy\nset seq=4096"),
            "warpfold simulate small --gpu h200_sxm --policy CARVE_OUT --set kernel.rng.philox.rounds=10 --unset kernel.copy "
            "--set seq=4096 --timeline --format json");
  EXPECT_EQ(command("policy CARVE_OUT", "model"), "warpfold model small --interference none --format json");
  EXPECT_EQ(command("policy CARVE_OUT", "whatif"), "warpfold whatif small --policy CARVE_OUT --format json");
  EXPECT_EQ(command("policy CARVE_OUT", "compare"), "warpfold compare small --policies all --format json");
}

TEST(Question, OfAStudyHasAxes) {
  EXPECT_EQ(command("axis gpu.sm.tensor.scale=1,2\naxis seq=1..64 times 2\npolicies SEQUENTIAL,CONCURRENT", "study"),
            "warpfold study small --axis gpu.sm.tensor.scale=1,2 --axis 'seq=1..64 times 2' --policies SEQUENTIAL,CONCURRENT "
            "--format csv");
  EXPECT_EQ(command("policy FUSED\naxis seq=1", "study"), "warpfold study small --axis seq=1 --policies FUSED --format csv");
  EXPECT_EQ(refused("", "study"), "a study, and nothing else, has an axis");
  EXPECT_EQ(refused("axis seq=1"), "a study, and nothing else, has an axis");
  EXPECT_EQ(refused("axis seq=1\naxis a=1\naxis b=1", "study"), "a study from the page has at most two axes");
  EXPECT_EQ(refused("axis seq", "study"), "axis: PATH=VALUES, not \"seq\"");
  EXPECT_EQ(refused("axis gpu=/etc/passwd", "study"), "axis: the page varies fields and parameters, not gpu");
  EXPECT_THAT(refused("axis kernel.x.trace.path=/etc/passwd", "study"),
              HasSubstr("the page cannot set a text that may name a file"));
}

TEST(Question, OfCyclesHasAWindow) {
  EXPECT_EQ(command("policy CARVE_OUT\nfrom 12000\ncount 100\nsub-core 1\nsm-class 0\nset seq=4096", "cycles"),
            "warpfold cycles small --policy CARVE_OUT --set seq=4096 --from 12000 --count 100 --sub-core 1 --sm-class 0 --format json");
  EXPECT_EQ(refused("from -1", "cycles"), "from: a number of digits alone, not \"-1\"");
  EXPECT_EQ(refused("count 5 --output=/tmp/x", "cycles"), "count: a number of digits alone, not \"5 --output=/tmp/x\"");
  EXPECT_EQ(refused("from 12000"), "a window of cycles is of a question for cycles");
}

TEST(Question, QuotesForAShellAndNotForTheProgram) {
  EXPECT_EQ(command("", "model", "own dir/mine.textproto"),
            "warpfold model 'own dir/mine.textproto' --interference none --format json");
  EXPECT_EQ(read("", "model", "own dir/mine.textproto")->words()[1], "own dir/mine.textproto");
}

TEST(Question, NamesConfigurationsAndWhatTheUserPassedAlone) {
  EXPECT_THAT(refused("", "simulate", "/etc/passwd"), HasSubstr("scenario: unknown name \"/etc/passwd\""));
  EXPECT_THAT(refused("", "simulate", "--html=/tmp/page.html"), HasSubstr("scenario: unknown name"));
  EXPECT_THAT(refused("", "simulate", "../../small"), HasSubstr("scenario: unknown name"));
  EXPECT_THAT(refused("", "simulate", "smal"), HasSubstr("did you mean \"small\"?"));
  EXPECT_THAT(refused("gpu /tmp/gpu.textproto"), HasSubstr("gpu: unknown name"));
  EXPECT_THAT(refused("policy --help"), HasSubstr("policy: unknown name"));
  EXPECT_THAT(refused("axis a=1\npolicies CONCURRENT,--output", "study"), HasSubstr("policies: unknown name \"--output\""));
  EXPECT_THAT(refused("", "report"), HasSubstr("ask: unknown name \"report\""));
}

TEST(Question, SetsNoTextThatMayNameAFile) {
  const std::string kFile = "the page cannot set a text that may name a file";
  for (const std::string setting : {"kernel.sums.listing.path=/etc/passwd",
                                    "kernel.0.listing.path=/etc/passwd",
                                    "kernel[0].listing.launch=/etc/passwd",
                                    "kernel.*.trace.path=/etc/passwd",
                                    "kernel.x.trace.kernel=a",
                                    "base=/etc/passwd",
                                    "gpu.base=/etc/passwd",
                                    "gpu.power.gpu=/etc/passwd",
                                    "gpu.*=/etc/passwd",
                                    "gpu.b*=/etc/passwd",
                                    "ker*.x.trace.path=/etc/passwd",
                                    "k*.*.l*.launch=/etc/passwd",
                                    "gpu.p*.gpu=/etc/passwd",
                                    "set=kernel.x.trace.path=/etc",
                                    "set+=gpu_file=/etc/passwd",
                                    "kernel.x.listing.description.base=/etc/passwd",
                                    "kernel.x.listing.description.listing=/etc/passwd",
                                    "kernel.x.listing.description.answer.0.lengths=/etc/passwd",
                                    "parameter.seq.sets.0.path=gpu_file",
                                    "kernel+={ name: \"x\" trace { path: \"/etc/passwd\" } }",
                                    "kernel+=name: \"x\" listing { launch: \"/etc/passwd\" }",
                                    "parameter+={ name: \"x\" sets { path: \"gpu_file\" } }",
                                    "kernel.x.listing.description.answer+={ line: 4 lengths: \"/etc/passwd\" }"}) {
    const std::string said = refused("set " + setting);
    EXPECT_TRUE(said.ends_with(kFile)) << setting << ": " << said;
  }
  EXPECT_EQ(refused("set gpu_file=/etc/passwd"),
            "--set gpu_file: no installed GPU is called \"/etc/passwd\"; known: h100_sxm, h200_sxm");
  EXPECT_THAT(refused("set model=/etc/passwd"), HasSubstr("no installed model is called"));
  EXPECT_THAT(refused("set name+=x"), HasSubstr("--set name+=x"));
}

TEST(Question, SetsEverythingElse) {
  for (const std::string setting :
       {"gpu.sm.tensor.scale=2", "sm.tensor.scale=2", "gpu.sm.*.scale=2", "kernel.attention.after+=copy", "kernel.a.after-=b",
        "kernel+={ name: \"copy\" elementwise { operation: COPY elements: 4096 } }", "gpu_file=h200_sxm", "block.model=llama3_8b",
        "model=llama3_8b", "seq=4096", "policy.reserve.rng.register_percent=8",
        "policy.reserve+={ kernel: \"rng\" register_percent: 6 }", "kernel.qkv.hopper_gemm.library=CUTLASS",
        "kernel.*.hopper_gemm.type=FP8", "parameter.seq.value=5", "kernel[0].stream=1"}) {
    EXPECT_THAT(command("set " + setting), HasSubstr("--set ")) << setting;
  }
  EXPECT_THAT(command("unset kernel.rng"), HasSubstr("--unset kernel.rng"));
}

TEST(Question, RefusesWhatIsNoSetting) {
  EXPECT_THAT(refused("set --html=/tmp/page.html"), HasSubstr("a field's path begins with a letter"));
  EXPECT_THAT(refused("unset --html"), HasSubstr("a field's path begins with a letter"));
  EXPECT_THAT(refused("axis --output=/tmp/x", "study"), HasSubstr("a field's path begins with a letter"));
  EXPECT_THAT(refused("set calls=/etc/passwd"), HasSubstr("neither a field of a scenario nor a parameter with a number"));
  EXPECT_THAT(refused("set kernel.rng.philox.round=7"), HasSubstr("unknown field \"round\""));
  EXPECT_THAT(refused("set launch.x=7"), HasSubstr("\"launch\" is a plain value"));
  EXPECT_THAT(refused("set kernel.rng={}"), HasSubstr("\"kernel\" is a group; name one of its fields"));
  EXPECT_THAT(refused("set kernel+={ nonsense"), HasSubstr("--set kernel: "));
  EXPECT_EQ(refused("set seq"), "expected PATH=VALUE");
  EXPECT_THAT(refused("set seq=1\x1b[2J"), HasSubstr("a line of the question cannot be shown"));
  EXPECT_EQ(refused("nonsense"), "a line of the question is a word and a value, not \"nonsense\"");
  EXPECT_EQ(refused("output /tmp/x"), "a question has no word \"output\"");
  EXPECT_EQ(refused("session a b"), "session: letters, digits and -, at most 40");
  EXPECT_EQ(refused("session " + std::string(41, 'a')), "session: letters, digits and -, at most 40");
  EXPECT_EQ(read_question("ask model", kNames).error().message, "a question needs lines ask and scenario");
  std::string many;
  for (int line = 0; line < 501; ++line) many += "set seq=1\n";
  EXPECT_EQ(refused(many), "a question has at most 500 lines");
}

}  // namespace
}  // namespace warpfold::serve
