#include "tools/warpfold/render/table.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/warpfold/render/json.h"

namespace warpfold::cli {

namespace {

// Columns of a terminal, not bytes: continuation bytes of UTF-8 take no room.
size_t display_width(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted.append(1, '"');
}

}  // namespace

Cell::Cell(std::string text) : text_(std::move(text)) {}
Cell::Cell(const char* text) : text_(text) {}
Cell::Cell(uint64_t number) : text_(with_thousands(std::to_string(number))), digits_(std::to_string(number)) {}
Cell::Cell(double number, int decimals) : text_(with_thousands(fixed(number, decimals))), digits_(fixed(number, decimals)) {}

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns_.size()) throw std::logic_error("a table row with another number of cells than columns");
  rows_.push_back(std::move(row));
}

std::string Table::aligned(const std::string& indent) const {
  std::vector<size_t> widths;
  std::vector<bool> numeric;
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c]));
    numeric.push_back(std::ranges::any_of(rows_, [c](const auto& row) { return row[c].is_number(); }));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c].text()));
  }
  std::string text;
  const auto line = [&](const auto& cell_text) {
    std::string row = indent;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_text(c);
      const std::string padding(widths[c] - display_width(cell), ' ');
      row.append(c == 0 ? "" : "  ").append(numeric[c] ? padding + cell : cell + padding);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line([&](size_t c) -> const std::string& { return columns_[c]; });
  for (const auto& row : rows_) line([&](size_t c) -> const std::string& { return row[c].text(); });
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (size_t c = 0; c < columns_.size(); ++c) text.append(c == 0 ? "" : ",").append(csv_field(columns_[c]));
  text += "\n";
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) {
      text.append(c == 0 ? "" : ",").append(row[c].is_number() ? row[c].digits() : csv_field(row[c].text()));
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
      text.append(c == 0 ? "" : ", ").append(json_string(columns_[c])).append(": ");
      text.append(cell.is_number() ? cell.digits() : json_string(cell.text()));
    }
    text += "}";
  }
  return text.append(rows_.empty() ? "]\n" : "\n]\n");
}

std::string Table::render(Format format) const {
  switch (format) {
    case Format::kTable:
      return aligned("");
    case Format::kJson:
      return json();
    case Format::kCsv:
      return csv();
  }
  throw std::logic_error("a format without a rendering");
}

}  // namespace warpfold::cli
