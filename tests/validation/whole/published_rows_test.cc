// Published rows against their simulations, as in `warpfold validate`: tests/validation/data. Nothing is fitted to these figures.
// Clocks are those of the GPU files, sustained under GEMMs: A100 at 1275 MHz, Hopper SXM at 1600, PCIe at 1424.
//
// docs/validation_tables.md holds every figure, and the bounds below are bounds of its figures. Each fourth row of up to 4096
// tokens is simulated, or with WARPFOLD_WHOLE (./dev test --all) every one, and must have the figures of the page. If a figure
// moves, either the model was changed on purpose, and the page must be written anew and reviewed, or the change is an error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/validation/whole/validated.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/statistics.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/render/validation_report.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

namespace fs = std::filesystem;

constexpr const char* kTables = "docs/validation_tables.md";
constexpr const char* kRegenerate =
    "build/release/warpfold validate tests/validation/data/*.csv --fold-error 0.05 --markdown docs/validation_tables.md";
// The rows of prefill beside decode once more, with their mean error.
constexpr const char* kPairs = "prefill_decode.csv";
constexpr const char* kPairTables = "docs/validation/prefill_decode_tables.md";
constexpr const char* kRegeneratePairs =
    "build/release/warpfold validate tests/validation/data/prefill_decode.csv --fold-error 0.05 --markdown "
    "docs/validation/prefill_decode_tables.md";
constexpr double kDrift = 0.005;  // of a figure; of percentages: half a point
constexpr size_t kEach = 4;       // one row of so many is simulated
constexpr double kLongest = 4096;

bool whole() { return std::getenv("WARPFOLD_WHOLE") != nullptr; }

std::vector<std::string> data_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator("tests/validation/data")) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> lines_of(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
  return cells;
}

// "+12.3 %" -> 12.3; none if the cell does not begin with a number.
std::optional<double> number_in(const std::string& cell) {
  std::istringstream stream(cell);
  double number = 0;
  if (!(stream >> number)) return std::nullopt;
  return number;
}

std::string after_number(const std::string& cell) {
  return cell.substr(std::min(cell.find_last_of("0123456789") + 1, cell.size()));
}

bool same_figure(const std::string& stored, const std::string& now) {
  if (stored == now) return true;
  const auto was = number_in(stored);
  const auto is = number_in(now);
  if (!was || !is || after_number(stored) != after_number(now)) return false;
  const double rounding = 1e-9;
  if (stored.find('%') != std::string::npos) return std::abs(*is - *was) <= 100 * kDrift + rounding;
  return std::abs(*is - *was) <= kDrift * std::abs(*was) + rounding;
}

bool same_line(const std::string& stored, const std::string& now) {
  const auto was = cells_of(stored);
  const auto is = cells_of(now);
  return was.size() == is.size() && std::ranges::equal(was, is, same_figure);
}

// "fp16 4096x7168x2048" -> 2048
uint64_t smallest_dimension(const std::string& shape) {
  std::istringstream numbers(shape.substr(shape.find(' ') + 1));
  uint64_t least = UINT64_MAX;
  for (std::string part; std::getline(numbers, part, 'x');) least = std::min<uint64_t>(least, std::stoull(part));
  return least;
}

std::string trimmed(const std::string& cell) {
  const size_t first = cell.find_first_not_of(" *");
  if (first == std::string::npos) return "";
  return cell.substr(first, cell.find_last_not_of(" *\\") + 1 - first);
}

// A page that `warpfold validate --markdown` wrote.
class Page {
 public:
  struct Row {
    std::string id;
    std::string implementation;
    std::string shape;
    bool judged;
    double measured;
    double simulated;
    double percent;  // error
  };

  explicit Page(const std::string& path) {
    std::ifstream file(fs::path(WARPFOLD_SOURCE_DIR) / path);
    lines_ = lines_of(file);
    if (lines_.empty()) throw std::logic_error("no page " + path);
    std::string section;
    std::string family;  // of groups: bold, above them
    for (const std::string& line : lines_) {
      if (line.starts_with("## ")) section = line.substr(3);
      const auto cells = cells_of(line);  // the first cell precedes the first bar
      if (cells.size() == 11 && number_in(cells[4])) {
        if (cells[1].find('*') != std::string::npos) family = trimmed(cells[1]);
        means_[{family, trimmed(cells[1]), trimmed(cells[2])}] = *number_in(cells[4]);
      }
      if (cells.size() != 12 || !number_in(cells[5])) continue;
      by_id_[trimmed(cells[1])] = line;
      sections_[section].push_back({.id = trimmed(cells[1]),
                                    .implementation = trimmed(cells[3]),
                                    .shape = trimmed(cells[4]),
                                    .judged = cells[1].find('*') == std::string::npos,
                                    .measured = *number_in(cells[5]),
                                    .simulated = *number_in(cells[6]),
                                    .percent = *number_in(cells[7])});
    }
  }

  const std::vector<std::string>& lines() const { return lines_; }
  const std::map<std::string, std::string>& by_id() const { return by_id_; }
  const std::map<std::string, std::vector<Row>>& sections() const { return sections_; }
  const std::vector<Row>& section(const std::string& name) const { return sections_.at(name); }
  // The mean errors of a family and of one of its groups, in percent.
  double mean(const std::string& family) const { return means_.at({family, family, "all"}); }
  double mean(const std::string& family, const std::string& kernel, const std::string& gpu) const {
    return means_.at({family, kernel, gpu});
  }

 private:
  std::vector<std::string> lines_;
  std::map<std::string, std::string> by_id_;
  std::map<std::string, std::vector<Row>> sections_;
  std::map<std::array<std::string, 3>, double> means_;
};

class PublishedRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs::current_path(WARPFOLD_SOURCE_DIR);
    made = validated(data_files(), whole() ? std::set<std::string>{} : each_fourth());
  }

  // The rows of one data file, with groups of their own.
  static configs::Validation of_file(const std::string& name) {
    configs::Validation part;
    part.add_data("tests/validation/data/" + name);
    for (const configs::ValidatedRow& row : made.rows()) {
      if (row.file().ends_with("/" + name)) *part.add_rows() = row;
    }
    add_error_groups(part);
    return part;
  }

  static inline configs::Validation made;

 private:
  // The ids of each fourth row, counted through all files without those of long sequences, whose simulations take a minute.
  static std::set<std::string> each_fourth() {
    std::set<std::string> ids;
    size_t count = 0;
    for (const std::string& file : data_files()) {
      const auto rows = validation::read_measured_rows(file);
      if (!rows) throw std::logic_error(rows.error().text());
      for (const validation::MeasuredRow& row : *rows) {
        if (row.number("seqlen").value_or(0) <= kLongest && count++ % kEach == 0) ids.insert(row.id());
      }
    }
    return ids;
  }
};

std::string moved(const std::string& stored, const std::string& now, const std::string& regenerate) {
  return "the page says\n  " + stored + "\nnow it is\n  " + now + "\nWas that meant? Then write it anew: " + regenerate;
}

void expect_stored(const configs::Validation& validation, const std::string& file, const std::string& regenerate) {
  const Page page(file);
  std::istringstream text(validation_markdown(validation));
  const auto now = lines_of(text);
  if (whole()) {
    ASSERT_EQ(page.lines().size(), now.size()) << file << " has other rows; write it anew: " << regenerate;
    for (size_t i = 0; i < now.size(); ++i) {
      EXPECT_TRUE(same_line(page.lines()[i], now[i])) << file << ":" << i + 1 << ": " << moved(page.lines()[i], now[i], regenerate);
    }
    return;
  }
  size_t compared = 0;
  for (const std::string& line : now) {
    const auto cells = cells_of(line);
    if (cells.size() != 12 || !number_in(cells[5])) continue;
    const auto stored = page.by_id().find(trimmed(cells[1]));
    ASSERT_NE(stored, page.by_id().end()) << file << " lacks\n  " << line << "\nWrite it anew: " << regenerate;
    EXPECT_TRUE(same_line(stored->second, line)) << file << ": " << moved(stored->second, line, regenerate);
    ++compared;
  }
  EXPECT_GE(compared * (kEach + 2), page.by_id().size());
}

TEST_F(PublishedRows, AreInTheDocumentAsTheyAreNow) { expect_stored(made, kTables, kRegenerate); }

TEST_F(PublishedRows, OfPrefillBesideDecodeAreInTheirDocument) { expect_stored(of_file(kPairs), kPairTables, kRegeneratePairs); }

// Whether a way to share the GPU wins or loses. A row that misses is a deviation (docs/validation/deviations.md); one that meets
// again leaves this list.
TEST(PublishedTables, PrefillBesideDecodeHasThePublishedSign) {
  constexpr double kSame = 0.02;  // of a ratio: neither wins
  const auto sign = [](double ratio) { return ratio > 1 + kSame ? 1 : ratio < 1 - kSame ? -1 : 0; };
  std::vector<std::string> missed;
  const Page page(kPairTables);
  EXPECT_GE(page.section("co-run").size(), 12U);
  for (const Page::Row& row : page.section("co-run")) {
    if (sign(row.measured) != sign(row.simulated)) missed.push_back(row.id);
  }
  EXPECT_THAT(missed, testing::ElementsAre("POD-F6-streams-54-of-55"));
}

// Wanted: 10 % for GEMMs above 256 in every dimension and for attention forward. The second is not met
// (docs/validation/deviations.md); these bounds hold the present state.
TEST(PublishedTables, GroupsAreWithinWhatTheDocumentSays) {
  const Page page(kTables);
  EXPECT_LE(page.mean("GEMM"), 10);
  EXPECT_LE(page.mean("attention forward"), 12);
  EXPECT_LE(page.mean("attention backward"), 12);
  EXPECT_LE(page.mean("attention backward", "flash_attention_2", "H100 SXM5 80GB"), 5);
  EXPECT_LE(page.mean("memory-bound"), 12);
  EXPECT_LE(page.mean("attention forward and backward"), 8);
  // The paper's rows. D64: another script also times operations besides the kernels.
  for (const Page::Row& row : page.section("attention backward")) {
    if (!row.judged) continue;
    if (!row.implementation.starts_with("FlashAttention-3") || !row.shape.starts_with("fp16")) continue;
    EXPECT_THAT(row.percent, AllOf(Ge(-10), Le(10))) << row.id;
  }
  for (const auto& [name, rows] : page.sections()) {
    for (const Page::Row& row : rows) {
      if (row.id == "P09") continue;
      EXPECT_THAT(row.percent, AllOf(Ge(-50), Le(125))) << row.id;
    }
  }
}

// The dropout paper's random numbers beside its GEMM: missed (D21), since the model follows a pair measured on an H100.
TEST(PublishedTables, ThePapersRandomNumbersAreSlowedDownTooMuch) {
  const Page page(kTables);
  const auto& rows = page.section("co-run");
  const auto found = std::ranges::find(rows, "P09", &Page::Row::id);
  ASSERT_NE(found, rows.end());
  EXPECT_NEAR(found->percent, 164, 5);
}

// Large: m, n and k at least 4096, set before the first run; a tile then has at least 32 k-blocks.
TEST(PublishedTables, LargeGemmsWithMulticastTakeThePublishedTime) {
  int large = 0;
  const Page page(kTables);
  for (const Page::Row& row : page.section("GEMM")) {
    if (!row.judged || smallest_dimension(row.shape) < 4096 || row.implementation.starts_with("TileLang")) continue;
    EXPECT_THAT(row.percent, AllOf(Ge(-12), Le(12))) << row.id;
    ++large;
  }
  EXPECT_EQ(large, 11);
}

TEST(DriftGate, LetsHalfAPercentPassAndNoMore) {
  EXPECT_TRUE(same_line("| S1 | 100.0 us | +3.0 % |", "| S1 | 100.4 us | +3.4 % |"));
  EXPECT_FALSE(same_line("| S1 | 100.0 us | +3.0 % |", "| S1 | 100.6 us | +3.0 % |"));
  EXPECT_FALSE(same_line("| S1 | 100.0 us | +3.0 % |", "| S1 | 100.0 us | +3.6 % |"));
  EXPECT_FALSE(same_line("| S1 | 100.0 us |", "| S2 | 100.0 us |"));
  EXPECT_FALSE(same_line("| S1 | 100.0 us |", "| S1 | 100.0 x |"));
  EXPECT_FALSE(same_line("| S1 | dram 80 % |", "| S1 | wgmma 80 % |"));
}

}  // namespace
}  // namespace warpfold::cli
