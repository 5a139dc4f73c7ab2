#include <gmock/gmock.h>

#include "configs/result.pb.h"
#include "configs/validation.pb.h"
#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/figures/data_sheet.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::StartsWith;

configs::Gpu part() {
  configs::Gpu gpu;
  gpu.set_clock_mhz(1755);
  gpu.mutable_data_sheet()->set_fp16_tflops(756);
  gpu.mutable_data_sheet()->set_fp8_tflops(1513);
  gpu.mutable_data_sheet()->set_tensor_clock_mhz(1619);
  gpu.mutable_data_sheet()->set_memory_gb_per_s(2039);
  return gpu;
}

TEST(DataSheet, IsExceededAboveItsPeakAlone) {
  EXPECT_EQ(tensor_warning(part(), "g", {.flops = 756e12}, 1e6), std::nullopt);
  EXPECT_EQ(tensor_warning(part(), "g", {.flops = 792e12}, 1e6),
            "Warning: g reaches 792.0 TFLOPS at 1,755 MHz, more than the 756.0 that the data sheet states at 1,619 MHz.");
  EXPECT_EQ(tensor_warning(part(), "g", {.flops = 1400e12, .width = sim::OperandWidth::k8}, 1e6), std::nullopt);
  EXPECT_THAT(tensor_warning(part(), "g", {.flops = 1600e12, .width = sim::OperandWidth::k8}, 1e6),
              Optional(HasSubstr("more than the 1513.0")));
  EXPECT_EQ(tensor_warning(part(), "g", {.flops = 3000e12, .width = sim::OperandWidth::k4}, 1e6), std::nullopt) << "not stated";
  configs::Gpu with_fp4 = part();
  with_fp4.mutable_data_sheet()->set_fp4_tflops(3026);
  EXPECT_EQ(tensor_warning(with_fp4, "g", {.flops = 3000e12, .width = sim::OperandWidth::k4}, 1e6), std::nullopt);
  EXPECT_THAT(tensor_warning(with_fp4, "g", {.flops = 3100e12, .width = sim::OperandWidth::k4}, 1e6),
              Optional(HasSubstr("more than the 3026.0")));
  EXPECT_EQ(memory_warning(part(), 2039e9, 1e6), std::nullopt);
  EXPECT_EQ(memory_warning(part(), 2100e9, 1e6), "Warning: DRAM moves 2,100 GB/s, more than the 2,039 that the data sheet states.");
}

TEST(DataSheet, SaysNothingOfWhatItLeavesOut) {
  configs::Gpu gpu = part();
  gpu.clear_data_sheet();
  EXPECT_EQ(tensor_warning(gpu, "g", {.flops = 1e18}, 1e6), std::nullopt);
  EXPECT_EQ(memory_warning(gpu, 1e18, 1e6), std::nullopt);
}

TEST(DataSheet, SaysNothingOfMachinesThatAreAskedForByFactors) {
  configs::Gpu gpu = part();
  gpu.mutable_sm()->mutable_tensor()->set_scale(2);
  gpu.mutable_dram()->set_scale(2);
  EXPECT_EQ(tensor_warning(gpu, "g", {.flops = 1e18}, 1e6), std::nullopt);
  EXPECT_EQ(memory_warning(gpu, 1e18, 1e6), std::nullopt);
}

// A GEMM that is fast enough for a data sheet of 20 TFLOPS, which the scenario gives its GPU.
class Warnings : public Program {
 protected:
  Warnings() {
    write("s.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                         "/configs/gpus/h100_sxm.textproto\"\n"
                         "gpu { data_sheet { fp16_tflops: 20 fp8_tflops: 1e5 } }\n"
                         "kernel { name: \"gemm\" hopper_gemm { m: 1024 n: 1024 k: 512 type: BF16 } }\n");
    write("study.textproto",
          "name: \"small\" scenario_file: \"s.textproto\"\n"
          "axis { name: \"kernel.gemm.hopper_gemm.k\" value: \"512\" value: \"1024\" }\n"
          "policy: SEQUENTIAL\n"
          "figure { name: \"f\" x: \"kernel.gemm.hopper_gemm.k\" quantity { label: \"t\" total_time: SEQUENTIAL } }\n");
  }
  std::string said(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out;
  }
};

constexpr const char* kWarning = "that the data sheet states at 1,830 MHz.";

TEST_F(Warnings, ArePrintedByEveryCommandThatSimulates) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"compare", "s.textproto", "--policies", "sequential"},
                                                    {"roofline", "s.textproto"},
                                                    {"hot", "s.textproto", "--top", "1"},
                                                    {"model", "s.textproto"},
                                                    {"whatif", "s.textproto", "--resources", "l2_latency"},
                                                    {"study", "study.textproto", "--output", "out"}}) {
    EXPECT_THAT(said(arguments), AllOf(HasSubstr("Warning: gemm reaches "), HasSubstr(kWarning))) << arguments.front();
  }
  EXPECT_THAT(said({"study", "study.textproto", "--output", "out"}), HasSubstr(std::string(kWarning) + " 1 further warning.\n"))
      << "of points that were kept too";
  EXPECT_THAT(said({"simulate", "s.textproto"}), HasSubstr("\nWarning: gemm reaches "));
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "r.json"}).exit_code, 0);
  EXPECT_THAT(said({"report", "r.json"}), HasSubstr("\nWarning: gemm reaches "));
}

TEST_F(Warnings, AreFieldsOfJson) {
  const auto result = message<configs::Result>({"simulate", "s.textproto"});
  EXPECT_THAT(result.warnings(), ElementsAre(AllOf(StartsWith("Warning: gemm reaches "), HasSubstr(kWarning))));
}

TEST_F(Warnings, StandBesideRowsThatAreHeldAgainstMeasurements) {
  write("rows.csv", "id,category,gpu,dtype,M,N,K,value,unit\na,GEMM,H100,bf16,1024,1024,512,10,us\n");
  const std::vector<std::string> arguments{"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus"};
  EXPECT_THAT(said(arguments), Not(HasSubstr("Warning")));
  std::vector<std::string> slow = arguments;
  slow.insert(slow.end(), {"--set", "gpu.data_sheet.fp16_tflops=20"});
  EXPECT_THAT(said(slow), HasSubstr("\na: Warning: "));
  const auto validation = message<configs::Validation>(slow);
  EXPECT_THAT(validation.rows(0).warnings(), ElementsAre(HasSubstr(kWarning)));
}

TEST_F(Warnings, KnowFp8ByItsInstructions) {
  EXPECT_THAT(said({"simulate", "s.textproto", "--set", "kernel.gemm.hopper_gemm.type=FP8"}), Not(HasSubstr("Warning")));
  EXPECT_THAT(
      said({"simulate", "s.textproto", "--set", "kernel.gemm.hopper_gemm.type=FP8", "--set", "gpu.data_sheet.fp8_tflops=20"}),
      HasSubstr("more than the 20.0 "));
}

TEST_F(Warnings, KnowFp4ByItsInstructions) {
  write("fp4.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                         "/configs/gpus/b200.textproto\"\n"
                         "kernel { name: \"g\" blackwell_gemm { m: 2048 n: 2048 k: 2048 type: FP4 tile_k: 256 } }\n");
  EXPECT_THAT(said({"simulate", "fp4.textproto", "--set", "gpu.data_sheet.fp16_tflops=20"}), Not(HasSubstr("Warning")));
  EXPECT_THAT(said({"simulate", "fp4.textproto", "--set", "gpu.data_sheet.fp4_tflops=20"}), HasSubstr("more than the 20.0 "));
}

TEST_F(Warnings, OfMemoryCountWhatDramServed) {
  write("copy.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                          "/configs/gpus/h100_sxm.textproto\"\n"
                          "kernel { name: \"copy\" elementwise { operation: COPY elements: 1048576 access_bytes: 16 } }\n");
  EXPECT_THAT(said({"simulate", "copy.textproto"}), Not(HasSubstr("Warning"))) << "L2 takes stores beyond the rate of DRAM";
  EXPECT_THAT(said({"simulate", "copy.textproto", "--set", "gpu.data_sheet.memory_gb_per_s=500"}),
              HasSubstr("Warning: DRAM moves "));
}

}  // namespace
}  // namespace warpfold::cli
