#pragma once

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

// Writes to standard output where `path` is empty, else as write_file does (configs/write_file.h): a failure on the way leaves an
// existing file as it was. With kCannotWrite it fails.
Outcome<void> write_output(const std::string& path, const std::string& text);
// With the folders above it.
Outcome<void> make_folder(const std::string& path);
// At the end of the program: some file systems say only now that a quota was exceeded.
Outcome<void> close_standard_output();

}  // namespace warpfold::cli
