#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "configs/profile.pb.h"
#include "configs/validation.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

class Validate : public Program {
 protected:
  Ended draw(const std::string& cells) const {
    write("rows.csv", "id,category,gpu,dtype,M,N,K,value,unit\n" + cells + "\n");
    return run({"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus", "--plot", "rows.svg"});
  }
};

// One point spans no axis: gnuplot would warn, on the terminal.
TEST_F(Validate, DrawsOneRowInSilence) {
  const Ended one = draw("a,GEMM,H100,bf16,512,512,512,10,us");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.err, "");
  EXPECT_THAT(read("rows.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("rows.gp"), HasSubstr(":20.00]\nset yrange ["));
}

TEST_F(Validate, DrawsErrorsByKernelAndGpu) {
  write("rows.csv",
        "id,category,gpu,dtype,M,N,K,value,unit\na,GEMM,H100,bf16,512,512,512,10,us\nb,GEMM,A100,bf16,512,512,512,10,us\n");
  const Ended drawn = run({"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus", "--plot-errors", "errors.svg"});
  EXPECT_EQ(drawn.exit_code, 0);
  EXPECT_EQ(drawn.err, "");
  EXPECT_THAT(read("errors.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("errors.gp"), HasSubstr("\"GEMM, A100 SXM4 80GB\" "));
  EXPECT_THAT(read("errors.gp"), HasSubstr(" %, 1 row\""));
  EXPECT_EQ(run({"validate", "rows.csv", "--plot-errors", "errors.png"}).err,
            "--plot-errors errors.png: expected a name that ends in .svg\n");
}

TEST_F(Validate, SaysThatThereIsNothingToDraw) {
  const Ended none = draw("a,GEMM,GTX 1080,bf16,512,512,512,10,us");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "--plot rows.svg: no row has a simulated time to draw\n");
  EXPECT_THAT(none.out, HasSubstr("no GPU file for GTX 1080: a"));
  EXPECT_THAT(files(), testing::ElementsAre("rows.csv"));
}

TEST_F(Validate, OfNoRowIsRefused) {
  write("rows.csv", "id,category,gpu,time_ms\na,GEMM,GTX 1080,1\n");
  const Ended none = run({"validate", "rows.csv", "--gpu", "H100"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "no row matches --gpu and --kernel\n");
}

TEST_F(Validate, OfSingleRowsReadsNoOther) {
  write("rows.csv",
        "id,category,gpu,time_ms,dtype,M,N,K\n"
        "a,GEMM,A100,1,bf16,512,512,512\n"
        "b,GEMM,GTX 1080,1,bf16,512,512,512\n"
        "c,GEMM,A100,1,bf16,512,512,512\n");
  const std::vector<std::string> arguments{"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus", "--row", "c"};
  const auto validation = message<configs::Validation>(arguments);
  ASSERT_EQ(validation.rows_size(), 1);
  EXPECT_EQ(validation.rows(0).id(), "c");
  EXPECT_EQ(validation.unmapped_size(), 0);

  const Ended unknown = run({"validate", "rows.csv", "--row", "a", "--row", "d"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err, "no row has the id \"d\"\n");
}

// An unknown phrase, a phrase that contradicts another, and a fact that a GEMM of a library does not follow.
TEST_F(Validate, ListsPhrasesThatNoSimulationFollows) {
  write("rows.csv",
        "id,category,gpu,dtype,M,N,K,dims_other,value,unit,notes\n"
        "a,GEMM,A100,bf16,512,512,512,clock 1200 MHz;grid=4x4x1,10,us,fan at 80 %\n"
        "b,GEMM,A100,bf16,512,512,512,clock 1200 MHz;grid=2x8x1,10,us,fan at 90 %; clock locked 1410 MHz\n");
  const std::vector<std::string> arguments{"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus"};
  const Ended table = run(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\nNot read in dims_other and notes: 3 phrases\n"));
  const auto validation = message<configs::Validation>(arguments);
  ASSERT_EQ(validation.unread_size(), 3);
  EXPECT_EQ(validation.unread(0).phrase(), "fan at # %");
  EXPECT_EQ(validation.unread(0).example(), "fan at 80 %");
  EXPECT_EQ(validation.unread(0).id(), "a");
  EXPECT_EQ(validation.unread(0).rows(), 2);
  EXPECT_EQ(validation.unread(0).why(), "not known");
  EXPECT_EQ(validation.unread(1).phrase(), "grid=#x#x#");
  EXPECT_EQ(validation.unread(1).rows(), 2);
  EXPECT_EQ(validation.unread(1).why(), "not followed");
  EXPECT_EQ(validation.unread(2).phrase(), "clock locked # MHz");
  EXPECT_EQ(validation.unread(2).why(), "contradicts an earlier phrase");
  std::vector<std::string> markdown = arguments;
  markdown.insert(markdown.end(), {"--markdown", "rows.md"});
  EXPECT_EQ(run(markdown).exit_code, 0);
  EXPECT_THAT(read("rows.md"), HasSubstr("## Not read in dims_other and notes"));
}

// Only the most frequent phrases are in the table.
TEST_F(Validate, SaysHowManyPhrasesItDoesNotList) {
  std::string notes;
  for (char c = 'a'; c <= 'z'; ++c) notes += std::string("word ") + c + ";";
  write("rows.csv", "id,category,gpu,dtype,M,N,K,value,unit,notes\na,GEMM,A100,bf16,512,512,512,10,us," + notes + "\n");
  const Ended table = run({"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus"});
  EXPECT_THAT(table.out, HasSubstr("and 6 more: --format json lists them\n"));
}

class Launches : public Program {
 protected:
  configs::Validation of(const std::string& cells) const {
    write("rows.csv", "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit\n" + cells + "\n");
    return message<configs::Validation>({"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus"});
  }
  const std::string kAdd =
      "\"at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >\"";
};

TEST_F(Launches, AreReadByTheirKernelsName) {
  const configs::Validation pass = of("a,MEM,A100,add," + kAdd + ",fp32,,,,grid=65536x1x1;block=128x1x1,280,us");
  ASSERT_EQ(pass.rows_size(), 1);
  EXPECT_EQ(pass.rows(0).family(), "kernel of a profile");
  EXPECT_EQ(pass.rows(0).kernel(), "ATen elementwise, vectorized");
  EXPECT_EQ(pass.rows(0).shape(), "ADD of 33554432 x 4 bytes");
  EXPECT_EQ(pass.unread_size(), 0);
}

// PyTorch splits tensors of more than 2 GB: the operator's size counts, which the row has.
TEST_F(Launches, OfAPassHaveTheRowsTensors) {
  const configs::Validation pass =
      of("a,MEM,A100,add," + kAdd + ",fp32,,,,grid=65536x1x1;block=128x1x1;rows=65536;cols=1024,560,us");
  ASSERT_EQ(pass.rows_size(), 1);
  EXPECT_EQ(pass.rows(0).shape(), "ADD of 67108864 x 4 bytes");
}

TEST_F(Launches, OfAProductHaveTheOperatorsTensors) {
  const std::string name =
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel";
  const configs::Validation product = of("a,GEMM,H100,aten::mm," + name +
                                         ",bf16,8944,1024,1024,\"grid=30x4x1;block=384x1x1;regs=168;smem=231424;op=aten::mm;"
                                         "dims=[[8944,1024],[1024,1024]]\",31.5,us");
  ASSERT_EQ(product.rows_size(), 1);
  EXPECT_EQ(product.rows(0).kernel(), "cuBLAS GEMM (wgmma)");
  EXPECT_THAT(product.rows(0).shape(), HasSubstr("tile 128 x 128 x 64"));
  EXPECT_EQ(product.unread_size(), 0);
}

// C[M,N] by K as columns say, or C[M,K] by N, if only that fits the grid.
TEST_F(Launches, OfAProductInFp32TakeTheReadingThatFitsTheGrid) {
  const auto shape = [&](const std::string& sizes, const std::string& grid) {
    return of("a,GEMM,A100,bmm,ampere_sgemm_128x64_tn,fp32," + sizes + ",grid=" + grid + ";block=128x1x1,1,ms").rows(0).shape();
  };
  EXPECT_EQ(shape("640,1000,64", "8x10x1"), "fp32 1000 x 640 x 64, tile 128 x 64");
  EXPECT_EQ(shape("640,64,1000", "8x10x1"), "fp32 1000 x 640 x 64, tile 128 x 64");
}

TEST_F(Launches, WithoutAGeneratorHaveAReason) {
  EXPECT_EQ(
      of("a,GEMM,A100,bmm,ampere_dgemm_128x128_nn,fp64,196,64,196,grid=2x2x512;block=256x1x1,1,ms").unmapped(0).reason(),
      "cuBLAS GEMM (FP32, FP64, complex): products of complex numbers, of FP64, and of FP32 in another layout than two letters "
      "have no generator");
  EXPECT_EQ(of("a,MEM,A100,my kernel,mine,fp32,,,,grid=2x2x512;block=256x1x1,1,ms").unmapped(0).reason(),
            "no rule of kernel_names.textproto knows the name");
  EXPECT_EQ(of("a,MEM,A100,add," + kAdd + ",fp32,,,,grid=0x1x1;block=128x1x1,280,us").unmapped(0).reason(),
            "dims_other: grid and block: expected whole numbers from 1 on");
}

const std::string kProfiles = WARPFOLD_SOURCE_DIR "/configs/profiles/";

class ProfilesAsMeasurements : public Program {};

// As `profile` says it: the same errors, each launch counted.
TEST_F(ProfilesAsMeasurements, HaveTheErrorsThatProfileSays) {
  const auto validation = message<configs::Validation>({"validate", "--profile", kProfiles + "pairs.json"});
  const auto report = message<configs::ProfileReport>({"profile", kProfiles + "pairs.json", "--candidates", "0"});
  EXPECT_EQ(validation.launches(), 12);
  EXPECT_EQ(validation.simulations(), 4);
  ASSERT_EQ(validation.rows_size(), 4);
  for (int row = 0; row < 4; ++row) {
    EXPECT_EQ(validation.rows(row).launches(), 3);
    EXPECT_EQ(validation.rows(row).id(), "pairs.json#" + std::to_string(row + 1));
    EXPECT_NEAR(validation.rows(row).error(), report.kernels(row).error(), 1e-9);
    EXPECT_EQ(validation.rows(row).family(), "launches of 8 us or more");
    EXPECT_GT(validation.rows(row).limiter_utilization(), 0);
  }
  ASSERT_EQ(validation.groups_size(), report.families_size());
  for (const configs::ErrorGroup& group : validation.groups()) {
    const std::string name = group.kernel().empty() ? "all" : group.kernel();
    const auto family = std::ranges::find(report.families(), name, &configs::ProfiledFamily::family);
    ASSERT_NE(family, report.families().end()) << name;
    EXPECT_EQ(group.rows(), family->launches());
    EXPECT_NEAR(group.mean(), family->mean_error(), 1e-9);
    EXPECT_NEAR(group.median(), family->median_error(), 1e-9);
    EXPECT_NEAR(group.bias(), family->bias(), 1e-9);
    EXPECT_GE(group.p90(), group.median());
  }
}

// Several profiles together. Kernels without a simulation and kernels that overlap others are listed with their reasons; short
// launches are separate.
TEST_F(ProfilesAsMeasurements, OfAllKinds) {
  const std::string pass =
      R"({"ph": "X", "cat": "kernel", "name": "vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, )"
      R"(std::array<char*, 1ul> >", "ts": 10, "dur": 4.5, "args": {"stream": 7, "grid": [8192, 1, 1], )"
      R"("block": [128, 1, 1], "registers per thread": 24, "shared memory": 0}})";
  write("short.json", R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [)" + pass + "]}");
  const std::vector<std::string> arguments{"validate", "--profile", kProfiles + "step.json", kProfiles + "pairs.json",
                                           "short.json"};
  const auto validation = message<configs::Validation>(arguments);
  std::map<std::string, std::string> unmapped;
  for (const configs::UnmappedRow& row : validation.unmapped()) unmapped[row.id()] = row.reason();
  EXPECT_EQ(unmapped["step.json#3"], "NCCL: its time depends on other GPUs");
  EXPECT_EQ(unmapped["step.json#4"], "every launch overlaps another kernel or has no time");
  EXPECT_EQ(unmapped["step.json#7"], "no rule of kernel_names.textproto knows the name");
  EXPECT_EQ(validation.groups(0).family(), "launches of 8 us or more");
  EXPECT_EQ(validation.groups(0).rows(), 17);
  EXPECT_EQ(validation.groups(validation.groups_size() - 1).family(), "launches of less than 8 us");
  EXPECT_EQ(validation.groups(validation.groups_size() - 1).rows(), 1);

  std::vector<std::string> table = arguments;
  table.insert(table.end(), {"--markdown", "rows.md", "--plot", "rows.svg", "--html", "rows.html"});
  const Ended ended = run(table);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("18 launches of 3 profiles in "));
  EXPECT_THAT(ended.out, HasSubstr("GPU             launches  mean %"));
  EXPECT_THAT(read("rows.md"), HasSubstr("validate --profile DATA... --markdown FILE"));
  EXPECT_THAT(read("rows.md"), HasSubstr("| kernel | GPU | launches | mean |"));
  EXPECT_THAT(read("rows.svg"), HasSubstr("</svg>"));
  std::vector<std::string> csv = arguments;
  csv.insert(csv.end(), {"--format", "csv"});
  EXPECT_THAT(run(csv).out, HasSubstr(",file,line,launches,reason\n"));
}

TEST_F(ProfilesAsMeasurements, AreChosenByGpuAndKernel) {
  const auto validation =
      message<configs::Validation>({"validate", "--profile", kProfiles + "pairs.json", "--kernel", "GEMM", "--gpu", "H100"});
  EXPECT_EQ(validation.launches(), 6);
  EXPECT_THAT(refused({"validate", "--profile", kProfiles + "pairs.json", "--gpu", "A100"}),
              HasSubstr("no kernel matches --gpu and --kernel"));
  EXPECT_THAT(refused({"validate", "--profile", kProfiles + "pairs.json", "--kernel", "conv"}),
              HasSubstr("no kernel matches --gpu and --kernel"));
}

TEST_F(ProfilesAsMeasurements, RefuseWhatIsNone) {
  EXPECT_EQ(refused({"validate", "--profile", kProfiles + "pairs.json", "--row", "a"}),
            "--row is of rows of measurements; a profile has launches\n");
  write("cut.json", "{\"traceEvents\": [");
  EXPECT_THAT(refused({"validate", "--profile", "cut.json"}), HasSubstr("cut.json:1:18: truncated: the JSON ends early"));
  write("unknown.json", R"([{"ph": "X", "cat": "kernel", "name": "f", "ts": 1, "dur": 1}])");
  EXPECT_EQ(refused({"validate", "--profile", "unknown.json"}), "unknown.json: no GPU file for the traced GPU \"\"\n");
  write("rows.csv", "id,category,gpu,time_ms\na,GEMM,H100,1\n");
  EXPECT_THAT(refused({"validate", "--profile", "rows.csv"}),
              HasSubstr("rows.csv is a table of measurements, and validate --profile takes a profile"));
  EXPECT_THAT(refused({"validate", kProfiles + "pairs.json"}), HasSubstr("profiles are for profile and validate --profile"));
  EXPECT_THAT(refused({"validate", "--profile", kProfiles + "pairs.json", "--set", "gpu.clock_mhz=1000"}),
              HasSubstr("--set is of rows of measurements"));
}

}  // namespace
}  // namespace warpfold::cli
