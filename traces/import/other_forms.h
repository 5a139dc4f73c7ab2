#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::sass {

// Listings that are no text of cuobjdump's or nvdisasm's, as such text. An instruction stays in its line, so that messages, answers
// and profiles name lines of the file.

// `nvdisasm -json` writes metadata, then functions with their instructions (CUDA 12.9 and later; JSON Format in the appendix of
// NVIDIA's CUDA Binary Utilities). Where several instructions are in one line, lines are those of `jq . FILE`.
bool is_json_listing(std::string_view text);
struct JsonListing {
  std::string text;
  bool lines_of_jq = false;
};
Expected<JsonListing> read_json_listing(const std::string& file, std::string_view text);

// Nsight Compute's source page (`ncu --page source --csv --print-source sass`): a row for each instruction, with columns Address
// and Source.
bool is_csv_listing(std::string_view text);
Expected<std::string> read_csv_listing(const std::string& file, std::string_view text);

// Instructions by line, as the text of a listing.
class ListingLines {
 public:
  // False: something stands in that line, or behind it.
  bool add(size_t line, std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  size_t line_ = 0;  // of what was added last, from 1
};

}  // namespace warpfold::sass
