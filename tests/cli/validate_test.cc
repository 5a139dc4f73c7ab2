#include <gmock/gmock.h>

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

// An unknown phrase, one that contradicts another, and a fact that a GEMM of a library does not follow.
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

}  // namespace
}  // namespace warpfold::cli
