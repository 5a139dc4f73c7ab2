#include <gmock/gmock.h>

#include "rows.h"
#include "tools/warpfold/run/launch_rows.h"

// Rows of profiles whose launches state their sizes by grid, shared memory or name.

namespace warpfold::validation {
namespace {

using testing::HasSubstr;

class LaunchRows : public Rows {
 protected:
  Mapped<Comparison> mapped(const std::string& gpu, const std::string& name, const std::string& launch) const {
    const auto rows =
        read("id,category,gpu,impl,dims_other,value,unit\nL1,MEM," + gpu + ",\"" + name + "\",\"" + launch + "\",46,us\n");
    if (!rows) throw std::logic_error(rows.error().text());
    return cli::map_row_or_launch(rows->front(), mapper_, WARPFOLD_SOURCE_DIR "/configs/kernels/operators");
  }
  // The listing's function, or the reason for which there is none.
  std::string function(const std::string& gpu, const std::string& name, const std::string& launch) const {
    const auto row = mapped(gpu, name, launch);
    return row ? row->runs.at(0).scenario.kernel(0).listing().description().function() : row.error().reason;
  }

 private:
  mutable RowMapper mapper_{WARPFOLD_SOURCE_DIR "/configs/gpus", {}};
};

constexpr const char* kA100 = "A100-PG509-200 (108 SM)";

TEST_F(LaunchRows, AChangeOfLayoutHasTheGridsTiles) {
  const std::string name = "cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)";
  const auto row = mapped(kA100, name, "grid=98x2x32;block=256x1x1;regs=32;smem=4224");
  ASSERT_TRUE(row) << row.error().reason;
  EXPECT_EQ(row->kernel, "layout change (cuDNN)");
  EXPECT_EQ(row->shape, "fp32 32 x 64 x 3136 pixels");
  EXPECT_THAT(function(kA100, name, "grid=1x8x512;block=256x1x1;regs=32;smem=4224"), HasSubstr("a grid of one tile"));
  EXPECT_EQ(
      function("H100 80GB HBM3", "cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false>(int)",
               "grid=8x1x768;block=256x1x1;regs=32;smem=2112;op=aten::cudnn_convolution;dims=[[4,3,224,224],[768,3,16,16]]"),
      "nchw_to_nhwc_half");
}

TEST_F(LaunchRows, AnOptimizerHasItsChunks) {
  const std::string name = "multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float, adamMode_t>(int)";
  EXPECT_EQ(function(kA100, name, "grid=299x1x1;block=512x1x1;regs=46;smem=0"), "chunks_adam");
  EXPECT_THAT(function(kA100, name, "grid=61x1x1;block=512x1x1;regs=46;smem=0"), HasSubstr("may be partial"));
}

TEST_F(LaunchRows, ABatchNormKeepsWhatItsSharedMemorySays) {
  const auto row = mapped(kA100, "cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_args<float>)",
                          "grid=1024x1x1;block=512x1x1;regs=40;smem=26768");
  ASSERT_TRUE(row) << row.error().reason;
  EXPECT_EQ(row->shape, "fp32 1 x 1024 x 6400 pixels, read once");
}

TEST_F(LaunchRows, SoftmaxOfFloatsHasTheRowsBlock) {
  const auto row =
      mapped("Tesla V100-PCIE-32GB", "at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float*)",
             "grid=32768x1x1;block=512x1x1;rows=32768;cols=10240");
  ASSERT_TRUE(row) << row.error().reason;
  const auto& description = row->runs.at(0).scenario.kernel(0).listing().description();
  EXPECT_EQ(description.function(), "torch_softmax_rows_fp32");
  EXPECT_EQ(description.block().x(), 512);
}

}  // namespace
}  // namespace warpfold::validation
