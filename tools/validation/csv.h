#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::validation {

// A cell and where it starts; lines and columns count from 1.
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

// Fails, with file:line:column, where a quote is not closed or stands inside a plain cell, a row has another number of cells than
// the header, or there is no header.
Expected<CsvTable> parse_csv(const std::string& file, std::string_view text);

// The same a row at a time, the header first, without keeping them; `line`: the number of the text's first line. Fails where
// `take` does.
Expected<void> parse_csv_rows(const std::string& file, std::string_view text, int line,
                              const std::function<Expected<void>(std::vector<CsvCell>)>& take);

}  // namespace warpfold::validation
