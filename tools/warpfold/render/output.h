#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

enum class Format { kTable, kJson, kCsv };

Outcome<Format> format_by_name(const std::string& name);
Outcome<Format> format_by_file_name(const std::string& path);

// Where a command's result goes.
struct Destination {
  Format format = Format::kTable;
  std::string path;  // empty: standard output
};

// The file that writing to `path` would replace or create, links followed; nothing where `path` is a device or a pipe, which
// is written to as it is.
std::optional<std::filesystem::path> file_behind(const std::string& path);

// What this thread writes to standard output goes to `stream` instead for as long as the object lives.
class StandardOutput {
 public:
  explicit StandardOutput(std::ostream& stream);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

 private:
  std::ostream* before_;
};

// Writes to standard output, or to a temporary file beside `path` that then takes its name: a failure on the way leaves an
// existing file as it was.
Outcome<void> write_output(const std::string& path, const std::string& text);

}  // namespace warpfold::cli
