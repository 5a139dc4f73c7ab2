#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "tools/validation/csv.h"

namespace warpfold::validation {

// One measurement as a CSV file has it. Columns (docs/validate.md says more): id, category, gpu and value with unit, or time_ms,
// are required; the others may be left out or empty.
class MeasuredRow {
 public:
  MeasuredRow(std::string file, int line, std::map<std::string, CsvCell, std::less<>> cells)
      : file_(std::move(file)), line_(line), cells_(std::move(cells)) {}

  const std::string& file() const { return file_; }
  int line() const { return line_; }
  const std::string& id() const { return text("id"); }

  const std::string& text(std::string_view column) const;                  // empty: not given
  std::optional<double> number(std::string_view column) const;             // none: not given, or not a number
  std::optional<uint64_t> count(std::string_view column) const;            // none: not given, or not a whole number
  std::string option(std::string_view name) const;                         // of dims_other: NAME=VALUE;NAME=VALUE
  Diagnostic problem(std::string_view column, std::string message) const;  // at the column's cell

 private:
  std::string file_;
  int line_;
  std::map<std::string, CsvCell, std::less<>> cells_;
};

// Fails, with file:line:column, on an unknown column (with the nearest known one) or one given twice, where a required one is
// missing, and where a value or a time is not a positive number.
Expected<std::vector<MeasuredRow>> read_measured_rows(const std::string& path);

}  // namespace warpfold::validation
