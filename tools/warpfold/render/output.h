#pragma once

#include <ostream>
#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

enum class Format { kTable, kJson, kCsv };

Outcome<Format> format_by_name(const std::string& name);
Outcome<Format> format_by_file_name(const std::string& path);

// The destination of a command's result.
struct Destination {
  Format format = Format::kTable;
  std::string path;  // empty: standard output
};

// Redirects this thread's standard output to `stream` for the lifetime of the object.
class StandardOutput {
 public:
  explicit StandardOutput(std::ostream& stream);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

 private:
  std::ostream* before_;
};

// Writes to standard output if `path` is empty. Otherwise writes the file as write_file does (configs/write_file.h): a failure
// leaves an existing file unchanged. Fails with kCannotWrite.
Outcome<void> write_output(const std::string& path, const std::string& text);
// Creates a folder and its missing parents.
Outcome<void> make_folder(const std::string& path);
// Called at the end of the program: some file systems report an exceeded quota only when the file is closed.
Outcome<void> close_standard_output();

}  // namespace warpfold::cli
