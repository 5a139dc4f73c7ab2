#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

// Functions that the fuzz targets share: a target reads its bytes as a text, as several files, or as a seed.
namespace warpfold::fuzz {

inline std::string text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// Returns the parts of an input that represents several files, separated by lines with only "%%". Returns exactly `count` parts;
// parts after the end of the input are empty.
std::vector<std::string> parts_of(std::string_view text, size_t count);
std::vector<std::string> lines_of(std::string_view text);

// Ends the program where the condition does not hold: libFuzzer keeps the input as a finding.
void require(bool condition, std::string_view what);
// Checks the message about an input that is refused.
void require_message(const Diagnostic& diagnostic);

// A folder in memory, removed at exit, whose files each input writes anew.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  std::string write(std::string_view name, std::string_view bytes) const;  // returns its path

 private:
  std::filesystem::path folder_;
};

}  // namespace warpfold::fuzz
