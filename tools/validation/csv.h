#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::validation {

// A cell, with the position of its first character; lines and columns count from 1.
struct CsvCell {
  std::string text;
  int line = 0;
  int column = 0;
};

// Rows of RFC 4180 under a header. Lines that start with # are comments; empty lines are skipped.
struct CsvTable {
  std::vector<CsvCell> header;
  std::vector<std::vector<CsvCell>> rows;  // each as wide as the header
};

// Parses a table. Fails, with file:line:column, if a quote is not closed or occurs inside a plain cell, if a row and the header
// differ in their number of cells, or if there is no header.
Expected<CsvTable> parse_csv(const std::string& file, std::string_view text);

// Passes rows to `take` one at a time, the header first, without keeping them. `line`: line number of the start of the text. Fails
// like parse_csv, and if `take` fails.
Expected<void> parse_csv_rows(const std::string& file, std::string_view text, int line,
                              const std::function<Expected<void>(std::vector<CsvCell>)>& take);

}  // namespace warpfold::validation
