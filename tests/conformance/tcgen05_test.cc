// Blackwell's tensor cores and tensor memory. Sources: SemiAnalysisAI/microbench-blackwell @9a068d8,
// umma_latency/fit_results.csv (B200, 1965 MHz: interval and latency of a product by shape, equal within 5 cycles for
// BF16, E4M3, S8 and MXF8); cicuvc/nvidia-sass-document, notes/sm100 (utchmma, ldtm, sttm).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/tcgen05.h"

namespace warpfold::test {
namespace {

// Returns the issue interval of one chain in steady state.
double interval(const Product& product) {
  const auto cycles = [&](int count) {
    return static_cast<double>(replay(one_sm("b200"), chain_of(product, count)).outcome.total_cycles);
  };
  return (cycles(300) - cycles(100)) / 200;
}

// Returns the cycles from the issue of one product to the result of the poll that sees its commit arrive, as the
// benchmark reads the clock: in front of the product and behind the poll.
double latency(const Product& product) {
  const Replay run = replay(one_sm("b200"), chain_of(product, 1));
  return static_cast<double>(run.warp(0).at(3) - run.warp(0).at(0));
}

struct Cell {
  int columns;
  double interval;
  double latency;
};

struct Column {
  Product product;
  std::array<Cell, 6> measured;
  double interval_within;
  double latency_within;
};

// Published for one CTA: exact in every cell.
const std::array kOneCta{
    Column{{.rows = 128}, {{{64, 48, 168}, {80, 52, 176}, {96, 56, 184}, {112, 60, 192}, {128, 64, 200}, {256, 128, 264}}}, 0, 0},
    Column{{.rows = 64}, {{{64, 32, 152}, {80, 40, 160}, {96, 48, 168}, {112, 56, 176}, {128, 64, 184}, {256, 128, 248}}}, 0, 0},
    Column{{.rows = 128, .a_in_tensor_memory = true},
           {{{64, 32, 136}, {80, 40, 144}, {96, 48, 152}, {112, 56, 160}, {128, 64, 168}, {256, 128, 232}}},
           0,
           0},
};

// cta_group::2, with M of the pair 256 or 128. With few columns, measured intervals are up to 3 cycles above the time
// of the tensor cores and of the operands. The measured latency with 64 rows in each SM grows by more than their tensor
// time.
const std::array kPair{
    Column{{.rows = 128, .pair = true},
           {{{64, 43, 202}, {80, 45, 210}, {96, 49, 218}, {112, 56, 226}, {128, 64, 234}, {256, 128, 298}}},
           3,
           0},
    Column{{.rows = 128, .a_in_tensor_memory = true, .pair = true},
           {{{64, 32, 170}, {80, 40, 178}, {96, 48, 186}, {112, 56, 194}, {128, 64, 202}, {256, 128, 266}}},
           0,
           0},
    Column{{.rows = 64, .pair = true},
           {{{64, 25, 173}, {80, 27, 179}, {96, 29, 185}, {112, 30, 191}, {128, 32, 197}, {256, 64, 229}}},
           1,
           12},
    Column{{.rows = 64, .a_in_tensor_memory = true, .pair = true},
           {{{64, 18, 162}, {80, 20, 166}, {96, 24, 170}, {112, 28, 174}, {128, 32, 178}, {256, 64, 210}}},
           2,
           9},
};

void expect_as_measured(const Column& column) {
  for (const Cell& cell : column.measured) {
    Product product = column.product;
    product.columns = cell.columns;
    EXPECT_NEAR(interval(product), cell.interval, column.interval_within)
        << cell.columns << " columns, " << product.rows << " rows";
    EXPECT_NEAR(latency(product), cell.latency, column.latency_within) << cell.columns << " columns, " << product.rows << " rows";
  }
}

TEST(Tcgen05, AProductOfOneCtaTakesWhatWasMeasured) {
  for (const Column& column : kOneCta) expect_as_measured(column);
}

TEST(Tcgen05, AProductOfAPairOfCtasTakesWhatWasMeasured) {
  for (const Column& column : kPair) expect_as_measured(column);
}

// Measured: a product of 128 x 128 with k 16 displaces 65.75 wavefronts of LDS. In the model it takes 32 for A and 32
// for B.
TEST(Tcgen05, OperandsGoFirstAtSharedMemory) {
  const traces::Kernel products = chain_of({.columns = 128}, 200);
  const Replay alone = replay(one_sm("b200"), products);
  EXPECT_EQ(alone.busy("shared_memory"), 200U * 64);
  const Lines loads =
      join(loop(8000, {op("LDS R4, [R2]")}), {op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("NOP", {.wait = {0}})});
  const traces::Kernel flood = on_all_sub_cores("sm_100", 12, loads, "flood");
  const Replay both = replay_together(one_sm("b200"), {flood, products});
  const Replay flood_alone = replay(one_sm("b200"), flood);
  ASSERT_GT(both.outcome.kernels[0].end_cycle, both.outcome.kernels[1].end_cycle);
  EXPECT_NEAR(static_cast<double>(both.outcome.kernels[0].end_cycle - flood_alone.outcome.kernels[0].end_cycle), 200 * 64, 70);
  EXPECT_GT(both.ledger(0, 1, sim::Contended::kSharedMemory), 0);
}

// Six products of a sub-core wait behind the one that runs. With stall count 1, a thread issues one in 7 cycles.
TEST(Tcgen05, SixProductsWaitBehindTheOneThatRuns) {
  const Replay run = replay(one_sm("b200"), chain_of({.columns = 256}, 12));
  const std::vector<uint64_t>& issues = run.warp(0);
  for (size_t i = 1; i <= 6; ++i) EXPECT_EQ(issues[i] - issues[i - 1], 7) << i;
  EXPECT_GT(issues[7] - issues[6], 80);
  EXPECT_EQ(issues[10] - issues[9], 128);
}

// An SM holds as many CTAs as tensor memory has room for: one with 512 columns, two with 256, four with 128.
TEST(Tcgen05, TensorMemoryBoundsTheCtasOfAnSm) {
  for (const auto& [columns, ctas] : {std::pair{"512", 1}, std::pair{"256", 2}, std::pair{"128", 4}}) {
    const traces::Kernel kernel = KernelText("wide", "sm_100")
                                      .options(text({"tensor_memory=", columns}))
                                      .ctas(8)
                                      .role("warp", 1, loop(1000, {op("FFMA R4, R8, R9, R4", {.stall = 4})}))
                                      .kernel();
    const Replay run = replay(one_sm("b200"), kernel);
    EXPECT_NEAR(static_cast<double>(run.outcome.total_cycles), 4000.0 * 8 / ctas, 500.0 * 8 / ctas) << columns;
  }
}

// Cycles from a warp's arrival at the cluster's barrier to its first instruction behind it.
uint64_t meeting_cycles(const std::string& gpu_name, const std::string& architecture) {
  const traces::Kernel kernel =
      KernelText("meeting", architecture)
          .declare("ring start depth=1 arrivals=8")
          .role("warp", 8, {op("UCGABAR_ARV", {}, "barrier=start"), op("UCGABAR_WAIT", {}, "barrier=start"), op("NOP")})
          .kernel();
  const Replay run = replay(one_sm(gpu_name), kernel);
  const std::vector<uint64_t>& issues = run.warp(0);
  return issues.at(2) - issues.at(0);
}

// Measured on a B300: 380 to 395 cycles. On an H100 the flight to the other SMs is not known.
TEST(ClusterBarrier, AnArrivalFliesToTheOtherSms) {
  EXPECT_GE(meeting_cycles("b200", "sm_100"), 380U);
  EXPECT_LE(meeting_cycles("b200", "sm_100"), 395U);
  EXPECT_LT(meeting_cycles("h100_sxm", "sm_90"), 60U);
}

// A load or store takes a cycle for each pair of columns; a load's result comes 22 cycles after the last pair.
TEST(TensorMemory, LoadsAndStoresTakeAPairOfColumnsACycle) {
  for (const auto& [width, cycles] : {std::pair{"8", 4}, std::pair{"16", 8}, std::pair{"32", 16}}) {
    const Lines load = {op(text({"LDTM.x", width, " R8, tmem[UR4]"}))};
    const Lines store = {op(text({"STTM.x", width, " tmem[UR4], R8"}))};
    EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm("b200"), load, 4), cycles) << width;
    EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm("b200"), store, 4), cycles) << width;
  }
}

double interval_of(const configs::Gpu& gpu, const Lines& lines) {
  const auto cycles = [&](int count) {
    return static_cast<double>(replay(gpu, chain_of_lines(lines, count)).outcome.total_cycles);
  };
  return (cycles(300) - cycles(100)) / 200;
}

// utccp: 512 copies of 512 bytes to all four quarters of the lanes, by one warp, take 9,376 cycles.
TEST(TensorMemory, ScalesAreCopiedInEighteenCyclesByOneWarp) {
  EXPECT_NEAR(interval_of(one_sm("b200"), {scale_copy_line()}), 9376.0 / 512, 0.35);
}

// Not measured: products and copies of one thread run one after the other, in order of issue (sim/sm/tcgen05_unit.h).
TEST(TensorMemory, ProductsWaitForTheCopiesInFrontOfThem) {
  const Product product{.narrow = true};
  Lines lines;
  for (int i = 0; i < 12; ++i) lines.push_back(scale_copy_line());
  for (int i = 0; i < 4; ++i) lines.push_back(product_line(product));
  EXPECT_NEAR(interval_of(one_sm("b200"), lines), 12 * 18 + 4 * 128, 1);
}

// All types have one rate, unless the GPU file has another for 8 bits and fewer.
TEST(TensorMemory, NarrowOperandsMayHaveARateOfTheirOwn) {
  configs::Gpu gpu = one_sm("b200");
  EXPECT_EQ(interval_of(gpu, {product_line({.pair = true, .narrow = true})}), 128);
  gpu.mutable_sm()->mutable_tcgen05()->set_narrow_columns_per_clk(4);
  EXPECT_EQ(interval_of(gpu, {product_line({.pair = true, .narrow = true})}), 64);
  EXPECT_EQ(interval_of(gpu, {product_line({.pair = true})}), 128);
}

}  // namespace
}  // namespace warpfold::test
