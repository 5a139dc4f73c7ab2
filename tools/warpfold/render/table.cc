#include "tools/warpfold/render/table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "configs/escape/csv.h"
#include "configs/escape/json.h"
#include "configs/escape/visible.h"

namespace warpfold::cli {

namespace {

// Returns the columns on a terminal, not the bytes: continuation bytes of UTF-8 take no column.
size_t display_width(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<std::string> column_names(const std::string& names) {
  std::istringstream words(names);
  return {std::istream_iterator<std::string>(words), {}};
}

Cell::Cell(std::string text) : text_(std::move(text)) {}
Cell::Cell(const char* text) : text_(text) {}
Cell::Cell(uint64_t number) : text_(with_thousands(std::to_string(number))), digits_(std::to_string(number)) {}
Cell::Cell(double number, int decimals)
    : text_(with_thousands(fixed(number, decimals))), digits_(std::isfinite(number) ? fixed(number, decimals) : "") {}

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns_.size()) throw std::logic_error("a table row with another number of cells than columns");
  rows_.push_back(std::move(row));
}

std::string Table::aligned(const std::string& indent) const {
  std::vector<size_t> shown;  // columns
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto has_value = [c](const auto& row) { return !row[c].text().empty() && row[c].text() != "-"; };
    if (rows_.empty() || std::ranges::any_of(rows_, has_value)) shown.push_back(c);
  }
  std::vector<std::vector<std::string>> lines(1);
  for (const size_t c : shown) lines.front().push_back(escape::visible(columns_[c]));
  for (const auto& row : rows_) {
    lines.emplace_back();
    for (const size_t c : shown) lines.back().push_back(escape::visible(row[c].text()));
  }
  std::vector<size_t> widths;
  std::vector<bool> numeric;
  for (size_t c = 0; c < shown.size(); ++c) {
    widths.push_back(0);
    numeric.push_back(std::ranges::any_of(rows_, [column = shown[c]](const auto& row) { return row[column].is_number(); }));
    for (const auto& line : lines) widths[c] = std::max(widths[c], display_width(line[c]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row = indent;
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string& cell = line[c];
      const std::string padding(widths[c] - display_width(cell), ' ');
      row.append(c == 0 ? "" : "  ").append(numeric[c] ? padding + cell : cell + padding);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string Table::section(const std::string& title) const { return empty() ? "" : "\n" + title + "\n" + aligned("  "); }

std::string Table::markdown() const {
  const auto line = [](const auto& texts) {
    std::string text = "|";
    for (const std::string& each : texts) text.append(" ").append(each).append(each.empty() ? "|" : " |");
    return text + "\n";
  };
  std::string text = line(columns_) + "|";
  for (size_t c = 0; c < columns_.size(); ++c) text += "---|";
  text += "\n";
  for (const auto& row : rows_) text += line(std::views::transform(row, &Cell::text));
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (size_t c = 0; c < columns_.size(); ++c) text.append(c == 0 ? "" : ",").append(escape::csv(columns_[c]));
  text += "\n";
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) {
      text.append(c == 0 ? "" : ",").append(row[c].is_number() ? row[c].digits() : escape::csv(row[c].text()));
    }
    text += "\n";
  }
  return text;
}

std::string Table::json() const {
  std::string text = "[";
  for (size_t r = 0; r < rows_.size(); ++r) {
    text += r == 0 ? "\n  {" : ",\n  {";
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Cell& cell = rows_[r][c];
      text.append(c == 0 ? "" : ", ").append(escape::json(columns_[c])).append(": ");
      text.append(cell.is_number() ? cell.digits() : escape::json(cell.text()));
    }
    text += "}";
  }
  return text.append(rows_.empty() ? "]\n" : "\n]\n");
}

std::string Table::render(Format format) const {
  if (format == Format::kJson) return json();
  return format == Format::kCsv ? csv() : aligned("");
}

}  // namespace warpfold::cli
