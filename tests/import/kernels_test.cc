// Kernels as users write them (tests/import/kernels), from listings of nvcc 13.0 for ten architectures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "configs/read_file.h"
#include "support.h"
#include "traces/compression.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::sass {
namespace {

const std::string kFolder = "tests/import/kernels/";

// Kernels whose paths or addresses hang on loaded data that no answer below states, or on a register (BRX, a recursion).
const std::set<std::string> kAsks = {"binary_search", "bitonic_sort", "cluster_exchange",    "global_symbol", "indirect_call",
                                     "jump_table",    "mandelbrot",   "integer_division_64", "power_exp",     "recursion",
                                     "spmv_thread",   "spmv_warp",    "switch_tree",         "texture_blur",  "ticket_queue"};
// Seconds: on one architecture alone.
const std::set<std::string> kSlow = {"collatz", "grid_stride", "stencil_3d", "triangular"};

std::string listings(const std::string& architecture) {
  const std::string file = kFolder + "listings/" + architecture + ".sass.zst";
  return traces::decompress(file, read_file(data_file(file)).value(), size_t{64} << 20).value();
}

// The function of that name, as a listing of its own. Empty: the architecture has none.
std::string function_of(const std::string& all, const std::string& architecture, const std::string& name) {
  const size_t at = all.find("Function : " + name + "\n");
  if (at == std::string::npos) return "";
  const size_t end = all.find("Function : ", at + 1);
  return " code for " + architecture + "\n " + all.substr(at, end == std::string::npos ? end : end - at);
}

std::vector<std::string> kernels() {
  std::ifstream table(data_file(kFolder + "kernels.txt"));
  std::vector<std::string> names;
  for (std::string line; std::getline(table, line);) {
    std::string name;
    if (!line.starts_with('#') && std::istringstream(line) >> name) names.push_back(name);
  }
  return names;
}

Expected<Imported> import_kernel(const std::string& listing, const std::string& name, const access::CachesFor& caches = {}) {
  configs::Places places;
  const auto launch = configs::load_kernel_launch(data_file(kFolder + name + ".textproto"), {}, &places);
  if (!launch) return std::unexpected(launch.error());
  return import_listing(name + ".sass", listing, *launch, places, caches);
}

class Kernels : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, Kernels,
                         testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a",
                                         "sm_121a"),
                         [](const auto& instance) { return instance.param; });

TEST_P(Kernels, AreTakenOrAskedAbout) {
  const std::string all = listings(GetParam());
  size_t taken = 0;
  for (const std::string& name : kernels()) {
    if (kSlow.contains(name)) continue;
    const std::string listing = function_of(all, GetParam(), name);
    if (listing.empty()) continue;
    const auto imported = import_kernel(listing, name);
    taken += imported ? 1 : 0;
    if (imported || kAsks.contains(name)) continue;
    // One answer suffices.
    const std::string message = imported.error().text();
    EXPECT_NE(message.find("answer { line:"), std::string::npos) << name << ": " << message;
  }
  EXPECT_GE(taken, 44U);
}

struct Measured {
  std::string kernel;
  uint64_t instructions = 0;
  double l2_bytes = 0;
};

std::vector<Measured> measured() {
  std::ifstream table(data_file(kFolder + "h100.csv"));
  std::vector<Measured> rows;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#') || line.starts_with("kernel,")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    rows.push_back({cells.at(0), std::stoull(cells.at(1)), std::stod(cells.at(7))});
  }
  return rows;
}

// Instructions that the H100 counted. Where warps poll an mbarrier, the trace has one poll. Of `collatz` a sample is executed.
TEST(MeasuredKernels, HaveTheInstructionsThatAnH100Counts) {
  const std::string all = listings("sm_90a");
  const std::map<std::string, double> off = {{"wgmma_pair", 0.01}, {"stencil_3d", 1e-5}};
  size_t compared = 0;
  for (const Measured& row : measured()) {
    const auto imported = import_kernel(function_of(all, "sm_90a", row.kernel), row.kernel);
    if (!imported) continue;
    ++compared;
    const auto issued = static_cast<double>(traces::issued_instructions(imported->kernel));
    const auto counted = static_cast<double>(row.instructions);
    const double allowed = off.contains(row.kernel) ? off.at(row.kernel) : imported->report.instructions_error;
    EXPECT_LE(imported->report.instructions_error, row.kernel == "collatz" ? 0.01 : 0) << row.kernel;
    EXPECT_LE(std::abs(issued / counted - 1), allowed) << row.kernel << ": " << issued << ", measured " << counted;
  }
  EXPECT_GE(compared, 53U);
}

// Stores of local memory go to L2, and so do loads that miss.
TEST(MeasuredKernels, SpillsHaveTheTrafficThatAnH100Counts) {
  const std::string all = listings("sm_90a");
  const std::map<std::string, double> off = {{"register_spill", 0.05}, {"local_array", 0.2}};
  const configs::Gpu gpu = configs::load_gpu("h100_sxm").value();
  const access::CachesFor caches = workloads::caches_of(gpu);
  for (const Measured& row : measured()) {
    if (!off.contains(row.kernel)) continue;
    const auto imported = import_kernel(function_of(all, "sm_90a", row.kernel), row.kernel, caches);
    ASSERT_TRUE(imported) << imported.error().text();
    uint64_t bytes = 0;
    for (const ArrayReport& array : imported->report.arrays) bytes += array.requested - array.in_l1;
    EXPECT_NEAR(static_cast<double>(bytes) / row.l2_bytes, 1, off.at(row.kernel)) << row.kernel;
  }
}

// Where the first question says that it hangs on a load: "answer { line: 39 value: N }".
std::string line_of_load(const std::string& message) {
  const std::string before = "answer { line: ";
  const size_t at = message.find(" value: N }");
  const size_t from = message.rfind(before, at) + before.size();
  return message.substr(from, at - from);
}

TEST(MeasuredKernels, OneAnswerDrawsIndicesAtRandom) {
  const std::string all = listings("sm_90a");
  const std::map<std::string, std::pair<std::string, size_t>> kernels = {
      {"gather", {"4194304", 0}}, {"scatter", {"4194304", 2}}, {"histogram_global", {"65536", 1}}};
  for (const Measured& row : measured()) {
    if (!kernels.contains(row.kernel)) continue;
    const auto& [numbers, array] = kernels.at(row.kernel);
    const std::string listing = function_of(all, "sm_90a", row.kernel);
    const std::string asks = message_of(import_kernel(listing, row.kernel));
    configs::KernelLaunch launch;
    const std::string text = read_file(data_file(kFolder + row.kernel + ".textproto")).value();
    ASSERT_TRUE(
        configs::parse_text("launch", text + "answer { line: " + line_of_load(asks) + " uniform: " + numbers + " }", launch));
    const auto imported = import_listing("kernel.sass", listing, launch, {});
    ASSERT_TRUE(imported) << imported.error().text();
    EXPECT_EQ(traces::issued_instructions(imported->kernel), row.instructions) << row.kernel;
    const ArrayReport& touched = imported->report.arrays.at(array);
    EXPECT_EQ(touched.touched, touched.bytes) << row.kernel;
    // 32 lanes seldom share a sector.
    const double sectors = static_cast<double>(touched.requested) / (4194304.0 / 32) / 32;
    EXPECT_NEAR(sectors, 31, 1.5) << row.kernel;
    EXPECT_NEAR(static_cast<double>(touched.dram) / static_cast<double>(touched.bytes), 1, 0.01) << row.kernel;
  }
}

TEST(Import, ANumberToDrawFromIsAtLeastOne) {
  EXPECT_THAT(message_of(import_lines("/*0000*/ EXIT ;",
                                      "architecture: \"sm_80\" grid { x: 1 } block { x: 32 } answer { line: 2 uniform: 0 }")),
              testing::HasSubstr("uniform must be at least 1"));
}

}  // namespace
}  // namespace warpfold::sass
