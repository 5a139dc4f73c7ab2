// The contention ledger of the memory system: two kernels that collide in exactly one server.

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::Contended;

// One server is so slow that the possessor holds it for kHeld cycles from its request on.
struct Server {
  std::string what;
  Contended resource;
  std::function<void(configs::Gpu&)> slow;
  bool store = false;
};

std::ostream& operator<<(std::ostream& stream, const Server& server) { return stream << server.what; }

constexpr uint32_t kOffset = 40;  // start of the late kernel: the data stage is free again, the server is not
constexpr double kBytesPerClk = 2;
constexpr uint64_t kHeld = 512 / 2;

configs::Gpu wide() {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_sm()->set_ingress_bytes_per_clk(4096);
  gpu.mutable_sm()->set_egress_bytes_per_clk(4096);
  gpu.mutable_l2()->set_read_bytes_per_clk(4096);
  gpu.mutable_l2()->set_write_bytes_per_clk(4096);
  gpu.mutable_dram()->set_efficiency_percent(100);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(4096.0 * gpu.clock_mhz() / 1000);
  return gpu;
}

// A kernel of one warp that loads 512 bytes and waits for them, or stores 512 bytes.
traces::Kernel transfer(bool store, const std::string& name) {
  const Lines load = {op("LDG.E.128 R4, [R2.64]", {.stall = 2, .write = 0}, "bytes=512 stream=0"), op("NOP", {.wait = {0}})};
  const Lines stored = {op("STG.E.128 [R2.64], R4", {.stall = 2}, "bytes=512 stream=1")};
  return KernelText(name, "sm_90")
      .declare("stream in read dram=1/1")
      .declare("stream out write dram=0/1")
      .role("warps", 1, store ? stored : load)
      .kernel();
}

class MemoryLedger : public testing::TestWithParam<Server> {
 protected:
  static void check(const Server& server, bool victim_first) {
    configs::Gpu gpu = wide();
    server.slow(gpu);
    const traces::Kernel possessor = transfer(server.store, "possessor");
    const traces::Kernel late = transfer(server.store, "late");
    const uint64_t alone = replay(gpu, late).outcome.total_cycles;
    gpu.mutable_sm()->set_cta_launch_cycles(kOffset);
    std::vector<sim::Launch> launches = {launch(possessor, 0), launch(late, 1)};
    launches[0].priority = 1;
    if (victim_first) std::swap(launches[0], launches[1]);
    const size_t victim = victim_first ? 0 : 1;
    const size_t culprit = 1 - victim;

    const Replay run = replay(gpu, launches);
    const uint64_t lost = run.outcome.kernels[victim].end_cycle - kOffset - alone;
    EXPECT_EQ(lost, kHeld - kOffset) << "what is left of the time that the server is held";
    sim::Losses expected{};
    EXPECT_EQ(run.outcome.ledger[culprit][victim], expected) << "the kernel in possession loses nothing";
    EXPECT_EQ(run.outcome.ledger[victim][victim], expected);
    expected[static_cast<size_t>(server.resource)] = lost;
    EXPECT_EQ(run.outcome.ledger[victim][culprit], expected);
  }
};

TEST_P(MemoryLedger, TheLateKernelLosesToTheOneInPossession) { check(GetParam(), false); }
TEST_P(MemoryLedger, WhicheverLaunchItIs) { check(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(
    Servers, MemoryLedger,
    testing::Values(
        Server{"sm_ingress", Contended::kSmIngress, [](auto& gpu) { gpu.mutable_sm()->set_ingress_bytes_per_clk(2); }},
        Server{"l2_read", Contended::kL2Read, [](auto& gpu) { gpu.mutable_l2()->set_read_bytes_per_clk(kBytesPerClk); }},
        Server{"dram", Contended::kDram,
               [](auto& gpu) { gpu.mutable_dram()->set_bandwidth_gb_per_s(kBytesPerClk * gpu.clock_mhz() / 1000); }},
        Server{"sm_egress", Contended::kSmEgress, [](auto& gpu) { gpu.mutable_sm()->set_egress_bytes_per_clk(2); }, true},
        Server{"l2_write", Contended::kL2Write, [](auto& gpu) { gpu.mutable_l2()->set_write_bytes_per_clk(kBytesPerClk); }, true}),
    testing::PrintToStringParamName());

// A copy waits while the engine starts another kernel's copy.
TEST(MemoryLedger, TheBulkCopyEngine) {
  const auto copying = [](const std::string& name) {
    return KernelText(name, "sm_90")
        .options("registers=32 shared_memory=4096")
        .declare("ring full depth=1 arrivals=1")
        .role("producer", 1,
              {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=0 tx_bytes=128"),
               op("UTMALDG.2D [UR8], [UR4]", {.stall = 2}, "bytes=128 barrier=0"),
               op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0")})
        .kernel();
  };
  configs::Gpu gpu = wide();
  gpu.mutable_sm()->set_bulk_copy_issue_cycles(100);
  const traces::Kernel first = copying("first");
  const traces::Kernel second = copying("second");
  const uint64_t alone = replay(gpu, second).outcome.total_cycles;
  gpu.mutable_sm()->set_cta_launch_cycles(kOffset);
  const Replay run = replay_together(gpu, {first, second});
  sim::Losses expected{};
  EXPECT_EQ(run.outcome.ledger[0][1], expected);
  expected[static_cast<size_t>(Contended::kBulkCopy)] = 100 - kOffset;
  EXPECT_EQ(run.outcome.ledger[1][0], expected);
  EXPECT_EQ(run.outcome.kernels[1].end_cycle - kOffset - alone, 100 - kOffset);
}

// Two loads of one sub-core return together. Each returns four registers, 4 x 128 bytes, at 64 bytes a cycle.
TEST(MemoryLedger, TheWayBackToTheRegisterFile) {
  configs::Gpu gpu = wide();
  const auto loading = [](const std::string& name) {
    return on_one_sub_core("sm_90",
                           {{op("LDG.E.128 R4, [R2.64]", {.stall = 2, .write = 0}, "bytes=512"), op("NOP", {.wait = {0}})}}, name);
  };
  const traces::Kernel first = loading("first");
  const traces::Kernel second = loading("second");
  gpu.mutable_sm()->set_cta_launch_cycles(1);
  const Replay run = replay_together(gpu, {first, second});
  EXPECT_GT(run.ledger(1, 0, Contended::kLoadReturn), 0);
  EXPECT_EQ(run.ledger(0, 1, Contended::kLoadReturn), 0);
}

// Reads of DRAM do not wait for writes to L2. The two directions of L2, and of the ports, do not wait for each other.
TEST(MemoryLedger, ReadsAndWritesDoNotMeet) {
  configs::Gpu gpu = wide();
  gpu.mutable_l2()->set_read_bytes_per_clk(kBytesPerClk);
  gpu.mutable_l2()->set_write_bytes_per_clk(kBytesPerClk);
  gpu.mutable_sm()->set_cta_launch_cycles(kOffset);
  const Replay run = replay_together(gpu, {transfer(false, "reads"), transfer(true, "writes")});
  EXPECT_EQ(run.outcome.ledger[0][1], sim::Losses{});
  EXPECT_EQ(run.outcome.ledger[1][0], sim::Losses{});
}

}  // namespace
}  // namespace warpfold::test
