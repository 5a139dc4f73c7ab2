// Math pipes: cycles a warp instruction in the steady state of one sub-core, and pairs of pipes that do not share
// hardware. Sources: cicuvc h100_fixed_pipeline (GA100, AD102 and GH100 measured), CUDA C Programming Guide 12.6
// (throughput table), B300 catalogue, Luo et al. and compiled code (mma.sync).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "isa/architecture.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

struct Occupancy {
  std::string gpu;
  std::string instruction;
  double cycles;
};

std::ostream& operator<<(std::ostream& stream, const Occupancy& row) { return stream << row.gpu << ": " << row.instruction; }
std::string occupancy_name(const testing::TestParamInfo<Occupancy>& info) {
  return test_name(text({info.param.gpu, " ", info.param.instruction}));
}

class PipeOccupancy : public testing::TestWithParam<Occupancy> {};

TEST_P(PipeOccupancy, CyclesAWarpInstruction) {
  const Occupancy& row = GetParam();
  EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm(row.gpu), repeat(8, {op(row.instruction)})), row.cycles) << row;
}

std::vector<Occupancy> table(const std::string& gpu, double fp32, double fp64) {
  std::vector<Occupancy> rows;
  const auto add = [&](std::initializer_list<std::string_view> instructions, double cycles) {
    for (const std::string_view each : instructions) rows.push_back({gpu, std::string(each), cycles});
  };
  add({"FFMA R1, R2, R3, RZ", "FADD R1, R2, R3", "FMUL R1, R2, R3"}, fp32);
  add({"IADD3 R1, R2, R3, RZ", "LOP3.LUT R1, R2, R3, RZ, 0x3c, !PT", "SHF.L.U32 R1, R2, 0xd, RZ", "PRMT R1, R2, 0x3210, R3",
       "SEL R1, R2, R3, P0", "MOV R1, R2", "ISETP.GE.AND P0, PT, R2, R3, PT", "FMNMX R1, R2, R3, PT"},
      2);
  add({"IMAD R1, R2, R3, RZ", "IMUL R1, R2, R3", "IDP.4A.S8.S8 R1, R2, R3, RZ"}, 2);
  add({"IMAD.WIDE R4, R2, R3, RZ", "IMAD.HI R4, R2, R3, RZ"}, 4);
  add({"HFMA2 R1, R2, R3, RZ", "HADD2 R1, R2, R3", "HMUL2 R1, R2, R3"}, 2);
  // Reuse keeps the register file from being the limit: three register pairs would take it three cycles.
  add({"DADD R4, R2, R6", "DFMA R4, R2.reuse, R6.reuse, R8"}, fp64);
  add({"MUFU.EX2 R1, R2", "F2I R1, R2", "I2F R1, R2", "POPC R1, R2", "FLO.U32 R1, R2", "BREV R1, R2"}, 8);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Gh100, PipeOccupancy, testing::ValuesIn(table("h100_sxm", 1, 2)), occupancy_name);
INSTANTIATE_TEST_SUITE_P(Ga100, PipeOccupancy, testing::ValuesIn(table("a100_sxm", 2, 4)), occupancy_name);
// The ALU pipe. F2FP was measured at 64 results a cycle and SM on an H100 (the guide says 16); I2FP runs there too.
INSTANTIATE_TEST_SUITE_P(Gh100Alu, PipeOccupancy,
                         testing::Values(Occupancy{"h100_sxm", "F2FP.BF16.F32.PACK_AB R1, R2, R3", 2},
                                         Occupancy{"h100_sxm", "I2FP.F32.S32 R1, R2", 2},
                                         Occupancy{"h100_sxm", "VOTE.ANY R1, PT, P0", 2}),
                         occupancy_name);
// mma.m16n8k16: 8 cycles on an A100 (Luo: 2048 FLOP a cycle and SM), 16 on an RTX A6000 (1024 FLOP), 6 on an H100
// (mma.sync reaches 63 % of wgmma).
INSTANTIATE_TEST_SUITE_P(MmaSync, PipeOccupancy,
                         testing::Values(Occupancy{"a100_sxm", "HMMA.16816.F32 R4, R8, R12, R4", 8},
                                         Occupancy{"rtx_a6000", "HMMA.16816.F32 R4, R8, R12, R4", 16},
                                         Occupancy{"h100_sxm", "HMMA.16816.F32 R4, R8, R12, R4", 6},
                                         Occupancy{"a100_sxm", "HMMA.1688.F32 R4, R8, R12, R4", 4}),
                         occupancy_name);

// Returns the 64-bit floating-point results a cycle and SM. CUDA C Programming Guide, arithmetic throughput, by compute
// capability: 2 on 7.5, 8.6 and 8.9 (and on 12.0, as gb202 measured), 32 on 7.0 and 8.0, 64 on 9.0.
double fp64_results_a_cycle(configs::Gpu gpu, const std::string& architecture) {
  gpu.set_architecture(architecture);
  const Lines loop_body = loop(400, {op("DFMA R4, R8.reuse, R8.reuse, R12", {.stall = 2})});
  const auto cycles = [&](uint32_t warps) {
    return static_cast<double>(replay(gpu, on_all_sub_cores(architecture, warps, loop_body)).outcome.total_cycles);
  };
  return 16 * 400 * 32.0 / cycles(16);
}

TEST(Fp64, ResultsACycleOfAnSm) {
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("rtx_a6000"), "sm_75"), 2, 0.02);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("rtx_a6000"), "sm_86"), 2, 0.02);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("rtx_4090"), "sm_89"), 2, 0.02);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("rtx_5090"), "sm_120"), 2, 0.02);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("v100_16gb"), "sm_70"), 32, 0.5);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("a100_sxm"), "sm_80"), 32, 0.5);
  EXPECT_NEAR(fp64_results_a_cycle(one_sm("h100_sxm"), "sm_90"), 64, 2);
}

// Returns the cycles of a pair of instructions that alternate in each warp. If they share no pipe, the pair takes as
// long as the slower instruction alone.
double pair(const std::string& first, const std::string& second) {
  return 2 * cycles_per_instruction(one_sm("h100_sxm"), repeat(8, {op(first), op(second)}));
}

const std::string kIadd3 = "IADD3 R1, R2, R3, RZ";
const std::string kImad = "IMAD R4, R2, R3, RZ";
const std::string kDadd = "DADD R8, R2, R6";
const std::string kHfma2 = "HFMA2 R5, R2, R3, RZ";
const std::string kFfma = "FFMA R7, R2, R3, RZ";
const std::string kMufu = "MUFU.EX2 R10, R2";
const std::string kHfma2Mma = "HFMA2.MMA R11, R2, R3, RZ";

TEST(CrossPipe, IndependentPairsTakeAsLongAsTheSlowerOne) {
  EXPECT_DOUBLE_EQ(pair(kIadd3, kImad), 2);
  EXPECT_DOUBLE_EQ(pair(kHfma2, kIadd3), 2);
  EXPECT_DOUBLE_EQ(pair(kFfma, kIadd3), 2);
  EXPECT_DOUBLE_EQ(pair(kFfma, kImad), 2);
}

// DADD reads two register pairs, each of one register in each bank: two cycles of the ports, which leaves no room for
// reads beside it. So the test reads RZ in place of the second pair and of other sources.
TEST(CrossPipe, Fp64IsApartFromTheOthers) {
  const std::string dadd = "DADD R8, R2, RZ";
  EXPECT_DOUBLE_EQ(pair("IADD3 R1, R2, RZ, RZ", dadd), 2);
  EXPECT_DOUBLE_EQ(pair("IMAD R4, R2, RZ, RZ", dadd), 2);
  EXPECT_DOUBLE_EQ(pair("HFMA2 R5, R2, RZ, RZ", dadd), 2);
}

TEST(CrossPipe, MufuIsApartFromEverything) {
  EXPECT_DOUBLE_EQ(pair(kMufu, kIadd3), 8);
  EXPECT_DOUBLE_EQ(pair(kMufu, kImad), 8);
  EXPECT_DOUBLE_EQ(pair(kMufu, kHfma2), 8);
  EXPECT_DOUBLE_EQ(pair(kMufu, kDadd), 8);
  // Four FFMA fit beside each MUFU (B300 catalogue).
  EXPECT_DOUBLE_EQ(5 * cycles_per_instruction(one_sm("h100_sxm"), repeat(8, join({op(kMufu)}, repeat(4, {op(kFfma)})))), 8);
}

TEST(CrossPipe, ImadAndHfma2ShareOneBackend) { EXPECT_DOUBLE_EQ(pair(kImad, kHfma2), 4); }

// Measured: about 2 cycles an instruction in an alternating stream.
TEST(CrossPipe, Hfma2AndFfmaInterlock) { EXPECT_THAT(pair(kHfma2, kFfma), testing::AllOf(testing::Ge(3.0), testing::Le(4.4))); }

TEST(CrossPipe, Hfma2MmaRunsOnTheFp64Pipe) { EXPECT_DOUBLE_EQ(pair(kHfma2Mma, "DADD R8, R2, RZ"), 4); }

// Latency of m16n8k16 with dependent accumulators, in cycles. A100 24.6, H800 24.1 (Luo); compiled code has 24 on both;
// sm_86 33-34 with fp32 accumulators and 24 with fp16 (Huerta). The function returns the stall count of the opcode
// table, which is the compiler's.
int result_latency(const std::string& architecture, const std::string& mnemonic) {
  const isa::Architecture& table = **isa::Architecture::find(architecture);
  const isa::OpcodeInfo& info = table.opcodes()[*table.resolve(mnemonic)];
  return table.register_latency(info, info);
}

TEST(MmaSyncLatency, DependentAccumulators) {
  EXPECT_NEAR(result_latency("sm_80", "HMMA.16816.F32"), 24.6, 0.7);
  EXPECT_NEAR(result_latency("sm_90", "HMMA.16816.F32"), 24.1, 0.7);
  EXPECT_NEAR(result_latency("sm_86", "HMMA.16816.F32"), 33.5, 0.5);
  EXPECT_EQ(result_latency("sm_86", "HMMA.16816.F16"), 24);
}

// Variable latency, in cycles: MUFU 17 on sm_86 (Huerta's configuration); RSQ 18 and SIN 24 on Hopper, taken from the
// B300 catalogue; EX2 as RSQ, since B300 has twice Hopper's rate for EX2 alone.
uint64_t result_wait(const std::string& gpu, const std::string& instruction) {
  const configs::Gpu machine = one_sm(gpu);
  const Lines lines = {op(instruction, {.stall = 2, .write = 0}), op("NOP", {.wait = {0}})};
  const Replay run = replay(machine, on_one_sub_core(machine.architecture(), {lines}));
  return run.warp(0).at(1) - run.warp(0).at(0);
}

TEST(VariableLatency, ResultsOfTheXu) {
  EXPECT_EQ(result_wait("rtx_a6000", "MUFU.RCP R1, R2"), 17);
  EXPECT_EQ(result_wait("h100_sxm", "MUFU.EX2 R1, R2"), 18);
  EXPECT_EQ(result_wait("h100_sxm", "MUFU.RSQ R1, R2"), 18);
  EXPECT_EQ(result_wait("h100_sxm", "MUFU.SIN R1, R2"), 24);
}

TEST(VariableLatency, SharedMemoryAndL1OnHopper) {
  EXPECT_EQ(result_wait("h100_sxm", "LDS R1, [R2]"), 29);                        // Luo: 29.0
  EXPECT_NEAR(double(result_wait("h100_sxm", "LDG.E R1, [R2.64]")), 40.7, 1.0);  // Luo
}

// An SM takes one warp request a cycle, and one sub-core at most 0.5 (cicuvc h800_mio_queue_topology).
TEST(HopperMemoryIssue, OneRequestACycleAndHalfOneASubCore) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const Lines lds = loop(400, {op("LDS R4, [R2]")});
  const auto cycles = [&](uint32_t warps) {
    return static_cast<double>(replay(gpu, on_all_sub_cores("sm_90", warps, lds)).outcome.total_cycles);
  };
  EXPECT_NEAR(400 / cycles(1), 0.5, 0.02);
  EXPECT_NEAR(800 / cycles(2), 1.0, 0.04);
  EXPECT_NEAR(1600 / cycles(4), 1.0, 0.02);
}

TEST(HopperMemoryIssue, LdsmX4TakesFourWavefronts) {
  const auto run = [](uint64_t count) {
    return replay(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 4, loop(count, {op("LDSM.16.M88.4 R4, [R2]")})));
  };
  const Replay hundred = run(100);
  EXPECT_EQ(hundred.busy("shared_memory"), 4 * 4 * 100);
  // cicuvc wgmma: 15.7 cycles for one instruction of each of four warps.
  EXPECT_NEAR(static_cast<double>(run(300).outcome.total_cycles - hundred.outcome.total_cycles) / 200, 15.7, 0.4);
}

// A constant load takes a request of the SM, and two cycles for each further address that its lanes read (fitted:
// configs/gpus/h100_sxm.textproto).
TEST(ConstantLoads, ServeOneAddressAfterTheOther) {
  const auto cycles = [](const std::string& effect) {
    const traces::Kernel kernel =
        on_all_sub_cores("sm_90", 16, loop(1000, {op("LDC R4, c[0x3][R6]", {.stall = 2, .write = 0}, effect)}));
    return static_cast<double>(replay(one_sm("h100_sxm"), kernel).outcome.total_cycles);
  };
  EXPECT_NEAR(cycles("wavefronts=32") / (16 * 1000), 63, 1);
  EXPECT_NEAR((cycles("wavefronts=32") - cycles("wavefronts=16")) / (16 * 1000), 32, 0.5);
}

}  // namespace
}  // namespace warpfold::test
