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

// One measurement of a CSV file. The columns id, category, gpu, and either value with unit or time_ms are required; others may be
// absent or empty (docs/validate.md describes them).
class MeasuredRow {
 public:
  MeasuredRow(std::string file, int line, std::map<std::string, CsvCell, std::less<>> cells);

  const std::string& file() const { return file_; }
  int line() const { return line_; }
  const std::string& id() const { return text("id"); }

  const std::string& text(std::string_view column) const;        // empty if not given
  std::optional<double> number(std::string_view column) const;   // empty if not given, or not a number
  std::optional<uint64_t> count(std::string_view column) const;  // empty if not given, or not a whole number
  // False if the value is a range ("1.7-2.3"), zero or negative, and there is no time_ms.
  bool has_figure() const;
  // Facts in dims_other and notes, as row_facts.h reads them. option() returns the VALUE of NAME=VALUE; empty if not given.
  const RowFacts& facts() const { return phrases_.facts; }
  const RowPhrases& phrases() const { return phrases_; }
  std::string option(std::string_view name) const;
  // The column clock_mhz, otherwise the clock that a phrase states.
  std::optional<double> clock_mhz() const;
  Diagnostic problem(std::string_view column, std::string message) const;  // at the column's cell

 private:
  std::string file_;
  int line_;
  std::map<std::string, CsvCell, std::less<>> cells_;
  RowPhrases phrases_;
};

// Reads all rows of a CSV file. Fails, with file:line:column, if a column is unknown (with the nearest known one), repeated, or
// required and missing. Fails likewise if a value is neither a number in its range nor a range of two numbers, or if a time is not
// a positive number.
Expected<std::vector<MeasuredRow>> read_measured_rows(const std::string& path);

}  // namespace warpfold::validation
