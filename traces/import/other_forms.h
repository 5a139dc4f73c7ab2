#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::sass {

// Conversion of listings in other formats to the text of cuobjdump or nvdisasm. Instructions keep their lines, so that
// messages, answers and profiles refer to lines of the file.

// `nvdisasm -json` writes metadata, then functions with their instructions (CUDA 12.9 and later; JSON Format in the
// appendix of NVIDIA's CUDA Binary Utilities). If several instructions share a line of the file, lines refer to the
// output of `jq . FILE`.
bool is_json_listing(std::string_view text);
struct JsonListing {
  std::string text;
  bool lines_of_jq = false;
};
Expected<JsonListing> read_json_listing(const std::string& file, std::string_view text);

// Nsight Compute's source page (`ncu --page source --csv --print-source sass`) has a row for each instruction, with
// columns Address and Source.
bool is_csv_listing(std::string_view text);
Expected<std::string> read_csv_listing(const std::string& file, std::string_view text);

// Builds the text of a listing with each instruction in a given line.
class ListingLines {
 public:
  // Returns false if that line or a later one is occupied.
  bool add(size_t line, std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  size_t line_ = 0;  // line of the last text added, from 1
};

}  // namespace warpfold::sass
