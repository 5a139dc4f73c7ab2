#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "tools/validation/csv.h"
#include "tools/validation/row_facts.h"

namespace warpfold::validation {

// One measurement as a CSV file has it. Columns (docs/validate.md says more): id, category, gpu and value with unit, or time_ms,
// are required; the others may be left out or empty.
class MeasuredRow {
 public:
  MeasuredRow(std::string file, int line, std::map<std::string, CsvCell, std::less<>> cells);

  const std::string& file() const { return file_; }
  int line() const { return line_; }
  const std::string& id() const { return text("id"); }

  const std::string& text(std::string_view column) const;        // empty: not given
  std::optional<double> number(std::string_view column) const;   // none: not given, or not a number
  std::optional<uint64_t> count(std::string_view column) const;  // none: not given, or not a whole number
  // False: the value is a range ("1.7-2.3"), zero or below, and there is no time_ms.
  bool has_figure() const;
  // Of dims_other and notes, as row_facts.h reads them. An option is a NAME=VALUE; empty: not given.
  const RowFacts& facts() const { return phrases_.facts; }
  const RowPhrases& phrases() const { return phrases_; }
  std::string option(std::string_view name) const;
  // Column clock_mhz, else the clock that a phrase states.
  std::optional<double> clock_mhz() const;
  Diagnostic problem(std::string_view column, std::string message) const;  // at the column's cell

 private:
  std::string file_;
  int line_;
  std::map<std::string, CsvCell, std::less<>> cells_;
  RowPhrases phrases_;
};

// Fails, with file:line:column, on an unknown column (with the nearest known one) or one given twice, where a required one is
// missing, and where a value is no number, no range of two numbers and too large or small, or a time is not a positive number.
Expected<std::vector<MeasuredRow>> read_measured_rows(const std::string& path);

}  // namespace warpfold::validation
