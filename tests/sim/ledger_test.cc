// The contention ledger: two kernels that collide on exactly one resource, and two kernels that share none.

#include <gtest/gtest.h>

#include <ostream>

#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using sim::Contended;

// The possessor starts at cycle 0 on sub-core 0. The late kernel starts `offset` cycles later and loses `loss` cycles.
struct Collision {
  std::string what;
  Contended resource;
  std::string gpu;
  Lines possessor;
  Lines late;
  uint32_t offset;
  uint64_t loss;
};

std::ostream& operator<<(std::ostream& stream, const Collision& collision) { return stream << collision.what; }

class Ledger : public testing::TestWithParam<Collision> {
 protected:
  // Only sub-core 0 has warps, except for wgmma, which needs a warpgroup.
  static traces::Kernel kernel(const Collision& collision, const Lines& lines, const std::string& name) {
    const std::string architecture = one_sm(collision.gpu).architecture();
    if (collision.resource == Contended::kWgmma) return on_all_sub_cores(architecture, 4, lines, name);
    return on_one_sub_core(architecture, {lines}, name);
  }

  static std::vector<uint64_t> row(const Replay& run, size_t victim, size_t culprit) {
    const auto& entry = run.outcome.ledger.at(victim).at(culprit);
    return {entry.begin(), entry.end()};
  }

  // `victim_first`: the victim is launch 0. The priorities decide which launch is placed first.
  static void check(const Collision& collision, bool victim_first) {
    configs::Gpu gpu = one_sm(collision.gpu);
    const traces::Kernel possessor = kernel(collision, collision.possessor, "possessor");
    const traces::Kernel late = kernel(collision, collision.late, "late");
    const uint64_t alone = replay(gpu, late).outcome.total_cycles;
    gpu.mutable_sm()->set_cta_launch_cycles(collision.offset);
    std::vector<sim::Launch> launches = {launch(possessor, 0), launch(late, 1)};
    launches[0].priority = 1;
    if (victim_first) std::swap(launches[0], launches[1]);
    const size_t victim = victim_first ? 0 : 1;
    const size_t culprit = 1 - victim;

    const Replay run = replay(gpu, launches);
    ASSERT_EQ(run.outcome.kernels[victim].start_cycle, collision.offset);
    std::vector<uint64_t> expected(sim::kContended, 0);
    EXPECT_EQ(row(run, culprit, victim), expected) << "the kernel in possession loses nothing";
    expected[static_cast<size_t>(collision.resource)] = collision.loss;
    EXPECT_EQ(row(run, victim, culprit), expected);
    if (collision.resource == Contended::kSharedMemory || collision.resource == Contended::kWgmma) return;  // charged by request
    const uint64_t cycles = run.outcome.kernels[victim].end_cycle - collision.offset;
    EXPECT_EQ(cycles - alone, collision.loss) << "time lost against time charged";
  }
};

TEST_P(Ledger, TheLateKernelLosesToTheOneInPossession) { check(GetParam(), false); }
TEST_P(Ledger, WhicheverLaunchItIs) { check(GetParam(), true); }

Lines once(std::string_view instruction) { return {op(instruction)}; }
// Two instructions back to back. The second one collides with the late kernel's first, and the issue policy stays with
// the possessor's warp.
Lines twice(std::string_view instruction) { return {op(instruction), op(instruction, {.stall = 5})}; }

const std::string kSmall = "rtx_a6000";

// An instruction holds its pipe's input latch for issue_interval_cycles of the opcode table.
INSTANTIATE_TEST_SUITE_P(
    Pipes, Ledger,
    testing::Values(
        Collision{"alu", Contended::kAlu, kSmall, once("IADD3 R1, R2, RZ, RZ"), once("MOV R1, R2"), 1, 1},
        Collision{"fma_heavy", Contended::kFmaHeavy, kSmall, once("IMAD.WIDE R4, R2, R3, RZ"), once("IMAD R1, R2, R3, RZ"), 1, 3},
        Collision{"fma_lite", Contended::kFmaLite, kSmall, twice("FADD R1, R2, R3"), once("FMUL R1, R2, R3"), 1, 1},
        Collision{"fp64", Contended::kFp64, kSmall, once("DADD R4, R2, R6"), once("DMUL R4, R2, R6"), 1, 63},
        Collision{"xu", Contended::kXu, kSmall, once("MUFU.EX2 R1, R2"), once("MUFU.RCP R1, R2"), 1, 7},
        Collision{"tensor", Contended::kTensor, kSmall, once("HMMA.16816.F32 R4, R8, R12, R4"),
                  once("HMMA.16816.F32 R4, R8, R12, R4"), 6, 10},
        Collision{"uniform", Contended::kUniform, kSmall, once("UIADD3 UR4, UR5, UR6, URZ"), once("UMOV UR4, UR5"), 1, 1},
        Collision{"fp16", Contended::kFp16, "a100_sxm", once("HFMA2 R1, R2, R3, RZ"), once("HADD2 R1, R2, R3"), 1, 1}),
    testing::PrintToStringParamName());

// Three FFMA that read one bank three times. The third one is held in the control stage until cycle 5, so the late
// kernel cannot issue in cycles 3 and 4. The late kernel's instruction waits behind it for two more cycles, which
// delays its EXIT.
INSTANTIATE_TEST_SUITE_P(Ports, Ledger,
                         testing::Values(Collision{
                             "register_read_ports",
                             Contended::kRegisterReadPort,
                             kSmall,
                             {op("FFMA R1, R2, R4, R6"), op("FFMA R1, R2, R4, R6"), op("FFMA R1, R2, R4, R6", {.stall = 10})},
                             once("MOV R1, R2"),
                             3,
                             4}),
                         testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Issue, Ledger,
                         testing::Values(Collision{"issue_slot", Contended::kIssueSlot, kSmall, twice("NOP"), once("NOP"), 1, 1}),
                         testing::PrintToStringParamName());

// memory_queue: five loads fill it, and the first leaves it in cycle 11. wgmma: 128 cycles of tensor time from cycle 1
// on. shared_memory: an LDS with 16 wavefronts holds the data stage for 16 cycles and reaches it three cycles before
// the late kernel's LDS.
INSTANTIATE_TEST_SUITE_P(
    Shared, Ledger,
    testing::Values(
        Collision{"memory_queue", Contended::kMemoryQueue, kSmall, repeat(5, once("LDS R4, [R2]")), once("LDS R4, [R2]"), 6, 5},
        Collision{"wgmma", Contended::kWgmma, "h100_sxm", wgmma_lines({256, false, 1}), wgmma_lines({256, false, 1}), 4, 124},
        Collision{"shared_memory",
                  Contended::kSharedMemory,
                  "h100_sxm",
                  {op("LDS R4, [R2]", {.stall = 2, .write = 0}, "wavefronts=16"), op("NOP", {.wait = {0}})},
                  {op("LDS R4, [R2]", {.stall = 2, .write = 0}, "wavefronts=16"), op("NOP", {.wait = {0}})},
                  3,
                  13}),
    testing::PrintToStringParamName());

// ---- kernels that share no resource

uint64_t between_kernels(const Replay& run) {
  uint64_t sum = 0;
  for (size_t victim = 0; victim < run.outcome.ledger.size(); ++victim) {
    for (size_t culprit = 0; culprit < run.outcome.ledger.size(); ++culprit) {
      if (victim == culprit) continue;
      for (const uint64_t cycles : run.outcome.ledger[victim][culprit]) sum += cycles;
    }
  }
  return sum;
}

TEST(EmptyLedger, KernelsOnDifferentSubCores) {
  const Lines work = loop(500, {op("IADD3 R1, R2, R4, R6"), op("FFMA R1, R2, R4, R6"), op("MUFU.EX2 R1, R2")});
  const traces::Kernel first =
      on_all_sub_cores("sm_86", 1, work, "first");  // a CTA of one warp goes to the sub-core with most free slots
  const traces::Kernel second = on_all_sub_cores("sm_86", 1, work, "second");
  const Replay run = replay_together(one_sm("rtx_a6000"), {first, second});
  EXPECT_EQ(between_kernels(run), 0);
  const uint64_t alone = replay(one_sm("rtx_a6000"), first).outcome.total_cycles;
  EXPECT_EQ(run.outcome.total_cycles, alone);
}

TEST(EmptyLedger, DifferentPipesInDifferentCyclesOfOneSubCore) {
  // Both kernels wait four cycles after each instruction, and b starts one cycle later than a.
  const traces::Kernel a = on_one_sub_core("sm_86", {loop(500, {op("IADD3 R1, R2, R3, RZ", {.stall = 4})})}, "a");
  const traces::Kernel b = on_one_sub_core("sm_86", {loop(500, {op("IMAD R1, R2, R3, RZ", {.stall = 4})})}, "b");
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.mutable_sm()->set_cta_launch_cycles(1);
  EXPECT_EQ(between_kernels(replay_together(gpu, {a, b})), 0);
}

TEST(EmptyLedger, KernelsOneAfterTheOther) {
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 16, loop(100, {op("IADD3 R1, R2, R3, RZ"), op("LDS R4, [R2]")}));
  const std::vector<sim::Launch> launches = {launch(kernel, 0), launch(kernel, 1)};
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_kernel_launch_cycles(100);
  EXPECT_GT(between_kernels(replay(gpu, launches)), 0);
  EXPECT_EQ(between_kernels(replay(gpu, launches, true)), 0);
}

}  // namespace
}  // namespace warpfold::test
