// Kernels as users write them (tests/import/kernels), from listings of nvcc 13.0 for ten architectures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "configs/read_file.h"
#include "support.h"
#include "traces/compression.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::sass {
namespace {

const std::string kFolder = "tests/import/kernels/";

const std::vector<std::string> kArchitectures = {"sm_75",   "sm_80",   "sm_86",   "sm_89",   "sm_90a",
                                                 "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"};

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

// Kernels that show the importer the same thing: a row of the table of docs/import.md.
struct Kind {
  std::string name;
  std::vector<std::string> kernels;
};

std::vector<Kind> kinds() {
  std::ifstream table(data_file(kFolder + "kernels.txt"));
  std::vector<Kind> kinds;
  for (std::string line; std::getline(table, line);) {
    std::string name;
    if (line.starts_with("## ")) {
      kinds.push_back({.name = line.substr(3), .kernels = {}});
    } else if (!line.starts_with('#') && std::istringstream(line) >> name) {
      kinds.back().kernels.push_back(name);
    }
  }
  return kinds;
}

// `largest_grid`: cuts the launch to so many CTAs in each dimension.
Expected<Imported> import_kernel(const std::string& listing, const std::string& name, const access::CachesFor& caches = {},
                                 uint32_t largest_grid = UINT32_MAX) {
  configs::Places places;
  auto launch = configs::load_kernel_launch(data_file(kFolder + name + ".textproto"), {}, &places);
  if (!launch) return std::unexpected(launch.error());
  launch->mutable_grid()->set_x(std::min(launch->grid().x(), largest_grid));
  if (launch->grid().has_y()) launch->mutable_grid()->set_y(std::min(launch->grid().y(), largest_grid));
  return import_listing(name + ".sass", listing, *launch, places, caches);
}

// How many kernels of a kind are imported as they are, how many after answers, how many not at all.
struct Taken {
  size_t as_they_are = 0;
  size_t asked_about = 0;
  std::vector<std::string> refused;  // messages
};

std::string cell_of(const Taken& taken) {
  std::string cell;
  const auto add = [&](size_t count, const std::string& what) {
    if (count > 0) cell += (cell.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(taken.as_they_are, "");
  add(taken.asked_about, " asked");
  add(taken.refused.size(), " refused");
  return cell.empty() ? "-" : cell;
}

// The table between these lines of docs/import.md.
const std::string kTableBegins = "<!-- made by test_import -->\n";
const std::string kTableEnds = "<!-- end -->\n";

// WARPFOLD_WRITE_TABLES=1 writes the document's table instead of comparing it.
TEST(Kernels, AreTakenAsTheDocumentSays) {
  std::map<std::string, std::string> listing_of;
  std::string table = "| kernels |";
  std::string line = "|---|";
  for (const std::string& architecture : kArchitectures) {
    listing_of[architecture] = listings(architecture);
    table += " " + architecture + " |";
    line += "---|";
  }
  table += "\n" + line + "\n";
  for (const Kind& kind : kinds()) {
    table += "| " + kind.name + " |";
    for (const std::string& architecture : kArchitectures) {
      Taken taken;
      for (const std::string& name : kind.kernels) {
        const std::string listing = function_of(listing_of[architecture], architecture, name);
        if (listing.empty()) continue;
        const auto imported = import_kernel(listing, name, {}, 8);
        if (imported) {
          ++taken.as_they_are;
        } else if (imported.error().text().find("answer { line:") != std::string::npos) {
          ++taken.asked_about;
        } else {
          taken.refused.push_back(architecture + " " + imported.error().text());
        }
      }
      table += " " + cell_of(taken) + " |";
    }
    table += "\n";
  }
  const std::string file = data_file("docs/import.md");
  const std::string document = read_file(file).value();
  const size_t begin = document.find(kTableBegins) + kTableBegins.size();
  const size_t end = document.find(kTableEnds, begin);
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("WARPFOLD_WRITE_TABLES") != nullptr) {
    std::ofstream(file) << document.substr(0, begin) << table << document.substr(end);
  } else {
    EXPECT_EQ(document.substr(begin, end - begin), table)
        << "WARPFOLD_WRITE_TABLES=1 test_import --gtest_filter=Kernels.AreTakenAsTheDocumentSays writes it";
  }
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

// Compares with instructions that the H100 counted. The trace has one poll for each mbarrier that warps poll. Of `collatz` a sample
// is executed.
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
  EXPECT_EQ(compared, 55U);
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
