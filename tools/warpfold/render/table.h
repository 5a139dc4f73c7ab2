#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/number_text.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// The content of a cell: a text, or a number with its decimals. People and files get the same decimals.
class Cell {
 public:
  Cell(std::string text);  // NOLINT(google-explicit-constructor): rows are written as lists
  Cell(const char* text);  // NOLINT(google-explicit-constructor)
  Cell(uint64_t number);   // NOLINT(google-explicit-constructor)
  Cell(double number, int decimals);

  bool is_number() const { return !digits_.empty(); }
  const std::string& text() const { return text_; }      // for people: commas separate thousands
  const std::string& digits() const { return digits_; }  // for files

 private:
  std::string text_;
  std::string digits_;
};

using report::fixed;
using report::with_thousands;

// Returns the names of columns, separated by blanks in `names`.
std::vector<std::string> column_names(const std::string& names);

// Returns the cells of a row: texts, numbers without decimals, or cells.
template <typename... Contents>
std::vector<Cell> cells(Contents&&... contents) {
  return {Cell(std::forward<Contents>(contents))...};
}

// Rows under column names. `aligned` is for people: numbers to the right, texts to the left; a column in which no row has a value
// ("" or "-") is left out. Also as CSV (RFC 4180) and as a JSON list of objects, which have every column.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  size_t width() const { return columns_.size(); }  // number of columns

  std::string aligned(const std::string& indent) const;
  // Returns an empty line, the title and the indented rows; empty without rows.
  std::string section(const std::string& title) const;
  // Returns the table in Markdown. Callers escape texts of the input (escape/markdown.h).
  std::string markdown() const;
  std::string csv() const;
  std::string json() const;
  std::string render(Format format) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace warpfold::cli
