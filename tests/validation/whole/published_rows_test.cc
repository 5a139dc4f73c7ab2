// Every published row against its simulation, as in `warpfold validate`: tests/validation/data. Nothing is fitted to these figures.
// Clocks are those of the GPU files, sustained under GEMMs: A100 at 1275 MHz, Hopper SXM at 1600, PCIe at 1424.
//
// docs/validation_tables.md holds every figure. If a figure moves, either the model was changed on purpose, and the page must be
// written anew and reviewed, or the change is an error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "tools/validation/statistics.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/render/validation_report.h"
#include "tools/warpfold/run/validation_run.h"

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
constexpr const char* kPairs = "tests/validation/data/prefill_decode.csv";
constexpr const char* kPairTables = "docs/validation/prefill_decode_tables.md";
constexpr const char* kRegeneratePairs =
    "build/release/warpfold validate tests/validation/data/prefill_decode.csv --fold-error 0.05 --markdown "
    "docs/validation/prefill_decode_tables.md";
// Causal CTAs are unequal, so that no SM's work is another's. With this --fold-error a sample of the SMs is simulated
// (docs/sampling.md).
constexpr double kUnequalSms = 0.05;
constexpr double kDrift = 0.005;  // of a figure; of percentages: half a point

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
uint64_t smallest_dimension(const configs::ValidatedRow& row) {
  std::istringstream shape(row.shape().substr(row.shape().find(' ') + 1));
  uint64_t least = UINT64_MAX;
  for (std::string part; std::getline(shape, part, 'x');) least = std::min<uint64_t>(least, std::stoull(part));
  return least;
}

class PublishedRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs::current_path(WARPFOLD_SOURCE_DIR);
    ValidationRequest request;
    request.data = data_files();
    request.gpus = "configs/gpus";
    request.how.jobs = 2;
    request.how.folding.options.error = kUnequalSms;
    auto made = run_validation(request);
    if (!made) throw std::logic_error(made.error().text);
    validation = std::move(*made);
  }

  static std::vector<const configs::ValidatedRow*> rows(const std::string& family, const std::string& implementation = "") {
    std::vector<const configs::ValidatedRow*> found;
    for (const configs::ValidatedRow& row : validation.rows()) {
      if (row.judged() && row.family() == family && row.implementation().find(implementation) != std::string::npos)
        found.push_back(&row);
    }
    return found;
  }
  static const configs::ErrorGroup& group(const std::string& family, const std::string& kernel, const std::string& gpu) {
    for (const configs::ErrorGroup& each : validation.groups()) {
      if (each.family() == family && each.kernel() == kernel && each.gpu() == gpu) return each;
    }
    throw std::logic_error("no group " + family);
  }

  // The rows of one data file, with groups of their own.
  static configs::Validation of_file(const std::string& file) {
    configs::Validation part;
    part.add_data(file);
    for (const configs::ValidatedRow& row : validation.rows()) {
      if (row.file() == file) *part.add_rows() = row;
    }
    add_error_groups(part);
    return part;
  }

  static inline configs::Validation validation;
};

void expect_stored(const configs::Validation& validation, const std::string& page, const std::string& regenerate) {
  std::ifstream file(page);
  const auto stored = lines_of(file);
  std::istringstream text(validation_markdown(validation));
  const auto now = lines_of(text);
  ASSERT_EQ(stored.size(), now.size()) << page << " has other rows; write it anew: " << regenerate;
  for (size_t i = 0; i < now.size(); ++i) {
    EXPECT_TRUE(same_line(stored[i], now[i])) << page << ":" << i + 1 << " says\n  " << stored[i] << "\nnow it is\n  " << now[i]
                                              << "\nWas that meant? Then write it anew: " << regenerate;
  }
}

TEST_F(PublishedRows, AreInTheDocumentAsTheyAreNow) { expect_stored(validation, kTables, kRegenerate); }

TEST_F(PublishedRows, OfPrefillBesideDecodeAreInTheirDocument) { expect_stored(of_file(kPairs), kPairTables, kRegeneratePairs); }

// Whether a way to share the GPU wins or loses. A row that misses is a deviation (docs/validation/deviations.md); one that meets
// again leaves this list.
TEST_F(PublishedRows, OfPrefillBesideDecodeHaveThePublishedSign) {
  constexpr double kSame = 0.02;  // of a ratio: neither wins
  const auto sign = [](double ratio) { return ratio > 1 + kSame ? 1 : ratio < 1 - kSame ? -1 : 0; };
  std::vector<std::string> missed;
  const configs::Validation pairs = of_file(kPairs);
  EXPECT_GE(pairs.rows_size(), 12);
  for (const configs::ValidatedRow& row : pairs.rows()) {
    if (sign(row.measured()) != sign(row.simulated())) missed.push_back(row.id());
  }
  EXPECT_THAT(missed, testing::ElementsAre("POD-F6-streams-54-of-55"));
}

// Wanted: 10 % for GEMMs above 256 in every dimension and for attention forward. The second is not met
// (docs/validation/deviations.md); these bounds hold the present state.
TEST_F(PublishedRows, GroupsAreWithinWhatTheDocumentSays) {
  EXPECT_LE(group("GEMM", "", "").mean(), 0.10);
  EXPECT_LE(group("attention forward", "", "").mean(), 0.12);
  EXPECT_LE(group("attention backward", "flash_attention_2", "H100 SXM5 80GB").mean(), 0.05);
  EXPECT_LE(group("attention backward", "", "").mean(), 0.12);
  // The paper's rows. D64: another script also times operations besides the kernels.
  for (const configs::ValidatedRow* row : rows("attention backward", "FlashAttention-3")) {
    if (!row->shape().starts_with("fp16")) continue;
    EXPECT_THAT(row->error(), AllOf(Ge(-0.1), Le(0.1))) << row->id();
  }
  EXPECT_LE(group("memory-bound", "", "").mean(), 0.12);
  EXPECT_LE(group("attention forward and backward", "", "").mean(), 0.08);
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.id() == "P09") continue;
    EXPECT_THAT(row.error(), AllOf(Ge(-0.5), Le(1.25))) << row.id();
  }
}

// The dropout paper's random numbers beside its GEMM: missed (D21), since the model follows a pair measured on an H100.
TEST_F(PublishedRows, ThePapersRandomNumbersAreSlowedDownTooMuch) {
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.id() != "P09") continue;
    EXPECT_NEAR(row.error(), 1.64, 0.05);
  }
}

// Large: m, n and k at least 4096, set before the first run; a tile then has at least 32 k-blocks.
TEST_F(PublishedRows, LargeGemmsWithMulticastTakeThePublishedTime) {
  int large = 0;
  for (const configs::ValidatedRow* row : rows("GEMM")) {
    if (smallest_dimension(*row) < 4096 || row->implementation().starts_with("TileLang")) continue;
    EXPECT_THAT(row->error(), AllOf(Ge(-0.12), Le(0.12))) << row->id();
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
