#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "configs/launch_sizes.h"
#include "tests/source_dir.h"
#include "tools/validation/map_row.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OperatorRows : public testing::Test {
 protected:
  OperatorRows() : file_(std::filesystem::path(testing::TempDir()) / "warpfold_operator_rows.csv") {}
  ~OperatorRows() override { std::filesystem::remove(file_); }
  OperatorRows(const OperatorRows&) = delete;
  OperatorRows& operator=(const OperatorRows&) = delete;
  OperatorRows(OperatorRows&&) = delete;
  OperatorRows& operator=(OperatorRows&&) = delete;

  MeasuredRow row(const std::string& line) const {
    std::ofstream(file_) << "id,category,gpu,kernel,impl,dtype,M,N,dims_other,value,unit\n" << line << "\n";
    return read_measured_rows(file_.string()).value().front();
  }
  Mapped<Comparison> mapped(const std::string& line) { return RowMapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {}).map(row(line)); }
  std::vector<std::string> functions(const std::string& line) {
    std::vector<std::string> names;
    const auto comparison = mapped(line);
    if (!comparison) return {comparison.error().reason};
    for (const validation::Run& run : comparison->runs) {
      const configs::Kernel& kernel = *run.scenario.kernel().rbegin();
      const auto sized = configs::with_sizes(kernel.listing().description(), {});
      names.push_back(std::filesystem::path(kernel.listing().path()).filename().string() + " " +
                      (sized ? sized->function() : sized.error().message));
    }
    return names;
  }

  std::filesystem::path file_;
};

TEST_F(OperatorRows, SayOperatorPassAndSize) {
  const auto liger =
      operator_row(row("1,MEM,H100 80GB HBM3,fused_add_rms_norm full,liger_rms_norm (Liger 0.7.0),see dims,,,"
                       "\"H=4096;{\"\"M\"\": 2048, \"\"dtype\"\": \"\"torch.float32\"\"}\",1,ms"));
  ASSERT_TRUE(liger) << liger.error().reason;
  EXPECT_EQ(liger->op, RowOperator::kResidualRmsNorm);
  EXPECT_EQ(liger->pass, RowPass::kFull);
  EXPECT_EQ(liger->maker, RowMaker::kLiger);
  EXPECT_EQ(liger->type, "fp32");
  EXPECT_EQ(liger->rows, 2048U);
  EXPECT_EQ(liger->columns, 4096U);

  const auto entropy =
      operator_row(row("1,MEM,H100,cross_entropy forward,liger,see dims,,,\"V=8192;{\"\"B\"\": 8, \"\"T\"\": 2048}\",1,ms"));
  EXPECT_EQ(entropy->rows, 8U * 2048);
  EXPECT_EQ(entropy->type, "fp32");

  const auto decode = operator_row(row("1,MEM,H100,\"RMSNorm fwd, decode-size\",torch.compile,bf16,,,shape 1x192x5120,1,us"));
  EXPECT_EQ(decode->rows, 192U);
  EXPECT_EQ(decode->columns, 5120U);
}

TEST_F(OperatorRows, RunTheKernelsOfTheirMaker) {
  EXPECT_THAT(functions("1,MEM,H100,rms_norm forward,liger,bf16,2048,1024,,1,ms"),
              ElementsAre("norm_sm_80.sass rms_norm_bf16_128x1"));
  EXPECT_THAT(functions("1,MEM,H100,RMSNorm fwd,torch.compile,bf16,2048,8192,,1,ms"),
              ElementsAre("inductor_sm_80.sass inductor_rms_norm_looped"));
  EXPECT_EQ(functions("1,MEM,H100,relu_squared backward,torch (Liger 0.7.0),bf16,4096,8192,,1,ms").size(), 4U);
  EXPECT_THAT(functions("1,MEM,H100,poly_norm fwd,liger,bf16,2048,4096,,1,ms"), ElementsAre(HasSubstr("no operator")));
}

// docs/validation/operator_kernels.csv: names, grids and blocks.
TEST_F(OperatorRows, OfPyTorchRunTheKernelsOfAProfile) {
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,bf16,4096,1024,,1,us"),
              ElementsAre("torch_sm_80.sass torch_softmax_warp_bf16"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,fp32,4096,32768,,1,us"),
              ElementsAre("torch_sm_80.sass torch_softmax_passes_fp32"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,PyTorch 2.11,bf16,4096,8192,,1,us"), ElementsAre(HasSubstr("not measured")));
  EXPECT_THAT(functions("1,MEM,H100,fused_add_rms_norm fwd,PyTorch 2.11,bf16,8192,4096,,1,us"),
              ElementsAre("torch_sm_80.sass torch_add_bf16", "torch_sm_80.sass torch_rms_norm_bf16"));
  EXPECT_THAT(functions("1,MEM,H100,softmax fwd,torch.compile 2.11,bf16,4096,1024,,1,us"),
              ElementsAre("inductor_sm_80.sass inductor_softmax_held"));
  EXPECT_THAT(functions("1,MEM,H100,add,liger,bf16,4096,1024,,1,us"), ElementsAre(HasSubstr("no kernel of this maker")));

  const auto sums = mapped("1,MEM,H100,column sums,PyTorch 2.11,bf16,8192,16384,,1,us");
  ASSERT_TRUE(sums) << sums.error().reason;
  const auto sized = configs::with_sizes(sums->runs.back().scenario.kernel().rbegin()->listing().description(), {});
  ASSERT_TRUE(sized) << sized.error().message;
  EXPECT_EQ(sized->grid().x(), 128U);
  EXPECT_EQ(sized->grid().y(), 17U);
}

TEST_F(OperatorRows, AreTimedAsTheirSourceTimes) {
  const auto events = mapped("1,MEM,H100,softmax fwd,QuACK,bf16,32768,8192,,2900,GB/s");
  ASSERT_TRUE(events) << events.error().reason;
  EXPECT_EQ(events->runs.front().scenario.kernel(0).name(), "flush");
  EXPECT_EQ(events->of, "pass");
  EXPECT_DOUBLE_EQ(events->launches_us, 4.7);
  EXPECT_DOUBLE_EQ(events->runs.front().scenario.gpu().clock_mhz(), 1980);
  EXPECT_EQ(events->runs.front().scenario.gpu().l2().hit_latency_cycles(), 416U);  // of the far partition
  EXPECT_NEAR(events->measured, 4.0 * 32768 * 8192 / 2900e3, 1e-6);
  const auto profile = mapped("1,MEM,H200,rms_norm fwd,pytorch (cuDNN backend 91901),bf16,8192,4096,,3114.8,GB/s");
  ASSERT_TRUE(profile) << profile.error().reason;
  EXPECT_DOUBLE_EQ(profile->launches_us, 0);
}

TEST_F(OperatorRows, OfAStreamLimitTheCtasOfAnSm) {
  const auto stream =
      mapped("1,MEM,H200,stream triad,gpu-benches gpu-stream,fp64,,,blockSize=256;blocks/SM=2;occupancy=25.0%,1905,GB/s");
  ASSERT_TRUE(stream) << stream.error().reason;
  EXPECT_EQ(stream->runs.front().scenario.gpu().sm().cta_slots(), 2U);
  EXPECT_EQ(stream->runs.front().scenario.kernel(0).elementwise().threads_per_cta(), 256U);
}

// All rows as their sources print them (docs/validation/operators.md); a row that is not mapped has a reason.
TEST_F(OperatorRows, OfPublishedBenchmarksAreMappedOrRefused) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/operators/memory_bound.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  size_t count = 0;
  for (const MeasuredRow& each : *rows) {
    const auto comparison = mapper.map(each);
    if (comparison) {
      ++count;
      continue;
    }
    EXPECT_FALSE(comparison.error().mistake) << each.id();
    EXPECT_FALSE(comparison.error().reason.empty()) << each.id();
  }
  EXPECT_EQ(rows->size(), 469U);
  EXPECT_EQ(count, 360U);
}

TEST_F(OperatorRows, OfPyTorchAreAllMapped) {
  RowMapper mapper(WARPFOLD_SOURCE_DIR "/configs/gpus", {});
  for (const std::string gpu : {"h100", "h200"}) {
    const auto rows = read_measured_rows(WARPFOLD_SOURCE_DIR "/tests/validation/operators/torch_" + gpu + ".csv");
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(rows->size(), 173U);
    for (const MeasuredRow& each : *rows) {
      const auto comparison = mapper.map(each);
      ASSERT_TRUE(comparison) << each.id() << ": " << comparison.error().reason;
      EXPECT_EQ(comparison->launches_us, 0) << each.id();  // CUPTI counts kernels alone
    }
  }
}

}  // namespace
}  // namespace warpfold::validation
