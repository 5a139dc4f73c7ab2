#include "tools/validation/measured_row.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "configs/read_file.h"

namespace warpfold::validation {

namespace {

constexpr std::array kColumns{
    "id",      "category",      "gpu",      "kernel",   "impl",     "dtype",         "M",          "N",       "K",
    "batch",   "heads",         "kv_heads", "seqlen",   "head_dim", "dims_other",    "causal",     "dropout", "metric",
    "value",   "unit",          "time_ms",  "source",   "location", "how_read",      "confidence", "notes",   "clock_mhz",
    "power_w", "temperature_c", "set",      "over_set", "scenario", "over_scenario", "of",         "judged",  "kernel_file",
    "launch"};

template <typename Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The range of a column's numbers. Figures outside it are misprints in any unit, and arithmetic with them could overflow.
struct Range {
  const char* column;
  double least;
  double most;
  const char* text;
  bool words = false;        // may be text instead of a number
  bool differences = false;  // may be a difference or a range
};
constexpr std::array kRanges{Range{"value", 1e-9, 1e15, "from 1e-9 to 1e15", false, true},
                             Range{"time_ms", 1e-9, 1e9, "from 1e-9 to 1e9"}, Range{"clock_mhz", 1, 1e5, "from 1 to 100000"},
                             Range{"dropout", 0, 1, "from 0 to 1", true}};
constexpr std::array kCounts{"M", "N", "K", "batch", "heads", "kv_heads", "seqlen", "head_dim"};
constexpr uint64_t kLargestCount = uint64_t{1} << 31;

// True for differences and ranges that sources print: "-10.6" %, "0", "75-85". They are valid figures, but cannot be compared with
// a simulation.
bool is_other_figure(const std::string& text, const std::string& unit) {
  constexpr std::array kPositive{"s", "ms", "us", "ns", "cycles", "TFLOPS", "GB/s", "W"};
  if (const auto number = parsed<double>(text))
    return *number <= 0 && *number >= -1e15 && std::ranges::find(kPositive, unit) == kPositive.end();
  const size_t dash = text.find('-', 1);
  return dash != std::string::npos && parsed<double>(text.substr(0, dash)) && parsed<double>(text.substr(dash + 1));
}

Expected<void> check_header(const std::string& file, const std::vector<CsvCell>& header) {
  const std::vector<std::string> known(kColumns.begin(), kColumns.end());
  std::vector<std::string> seen;
  for (const CsvCell& cell : header) {
    if (std::ranges::find(known, cell.text) == known.end())
      return fail_at(file, cell.line, cell.column, "no column called " + escape::quoted(cell.text) + suggestion(cell.text, known));
    if (std::ranges::find(seen, cell.text) != seen.end())
      return fail_at(file, cell.line, cell.column, "column " + escape::quoted(cell.text) + " stands here twice");
    seen.push_back(cell.text);
  }
  const auto has = [&](const std::string& name) { return std::ranges::find(seen, name) != seen.end(); };
  for (const std::string name : {"id", "category", "gpu"}) {
    if (!has(name)) return fail_at(file, header.front().line, 1, "column " + escape::quoted(name) + " is missing");
  }
  if (has("time_ms") || (has("value") && has("unit"))) return {};
  return fail_at(file, header.front().line, 1, "columns \"value\" and \"unit\", or \"time_ms\", are missing");
}

Expected<void> check_numbers(const MeasuredRow& row) {
  for (const Range& range : kRanges) {
    const std::string& text = row.text(range.column);
    const auto number = row.number(range.column);
    if (text.empty() || (!number && range.words)) continue;
    if (number && *number >= range.least && *number <= range.most) continue;
    if (range.differences && is_other_figure(text, row.text("unit"))) continue;
    return std::unexpected(row.problem(
        range.column, std::string("expected a number ").append(range.text).append(", not ").append(escape::quoted(text))));
  }
  for (const char* column : kCounts) {
    if (row.count(column).value_or(0) <= kLargestCount) continue;
    return std::unexpected(row.problem(column, "at most " + std::to_string(kLargestCount) + ", not " + row.text(column)));
  }
  return {};
}

Expected<void> check_row(const MeasuredRow& row) {
  if (auto checked = check_numbers(row); !checked) return checked;
  if (row.text("value").empty() && row.text("time_ms").empty())
    return std::unexpected(row.problem("id", "the row has no value and no time_ms"));
  const std::string& judged = row.text("judged");
  if (judged.empty() || judged == "yes" || judged == "no") return {};
  return std::unexpected(row.problem("judged", "expected yes or no, not " + escape::quoted(judged)));
}

}  // namespace

MeasuredRow::MeasuredRow(std::string file, int line, std::map<std::string, CsvCell, std::less<>> cells)
    : file_(std::move(file)), line_(line), cells_(std::move(cells)), phrases_(read_phrases(text("dims_other"), text("notes"))) {}

const std::string& MeasuredRow::text(std::string_view column) const {
  static const std::string nothing;
  const auto found = cells_.find(column);
  return found == cells_.end() ? nothing : found->second.text;
}

std::optional<double> MeasuredRow::number(std::string_view column) const { return parsed<double>(text(column)); }
std::optional<uint64_t> MeasuredRow::count(std::string_view column) const { return parsed<uint64_t>(text(column)); }

std::string MeasuredRow::option(std::string_view name) const {
  const auto found = facts().named.find(name);
  return found == facts().named.end() ? std::string() : found->second;
}

std::optional<double> MeasuredRow::clock_mhz() const {
  const auto column = number("clock_mhz");
  return column ? column : facts().clock_mhz;
}

bool MeasuredRow::has_figure() const { return !text("time_ms").empty() || number("value").value_or(0) > 0; }

Diagnostic MeasuredRow::problem(std::string_view column, std::string message) const {
  const auto found = cells_.find(column);
  if (found == cells_.end()) return {file_, line_, 1, std::move(message)};
  return {file_, found->second.line, found->second.column, std::move(message)};
}

Expected<std::vector<MeasuredRow>> read_measured_rows(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  auto table = parse_csv(path, *text);
  if (!table) return std::unexpected(table.error());
  if (auto checked = check_header(path, table->header); !checked) return std::unexpected(checked.error());
  if (table->rows.empty()) return fail_at(path, table->header.front().line, 1, "no rows under this header");
  std::vector<MeasuredRow> rows;
  for (std::vector<CsvCell>& cells : table->rows) {
    std::map<std::string, CsvCell, std::less<>> named;
    const int line = cells.front().line;
    for (size_t c = 0; c < cells.size(); ++c) named.emplace(table->header[c].text, std::move(cells[c]));
    rows.emplace_back(path, line, std::move(named));
    if (auto checked = check_row(rows.back()); !checked) return std::unexpected(checked.error());
  }
  return rows;
}

}  // namespace warpfold::validation
