#include "tools/warpfold/render/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/terminal.h"
#include "configs/near_miss.h"
#include "configs/write_file.h"

namespace warpfold::cli {

namespace {

thread_local std::ostream* captured = nullptr;  // replaces standard output if set

constexpr const char* kToStandardOutput = "cannot write to standard output: ";

}  // namespace

Outcome<Format> format_by_name(const std::string& name) {
  if (name == "table") return Format::kTable;
  if (name == "json") return Format::kJson;
  if (name == "csv") return Format::kCsv;
  return user_error("unknown format " + escape::quoted(name) + suggestion(name, {"table", "json", "csv"}));
}

Outcome<Format> format_by_file_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".txt") return Format::kTable;
  if (extension == ".json") return Format::kJson;
  if (extension == ".csv") return Format::kCsv;
  return user_error("--output " + path + ": the name says no format; end it in .txt, .json or .csv, or give --format");
}

StandardOutput::StandardOutput(std::ostream& stream) : before_(std::exchange(captured, &stream)) {}
StandardOutput::~StandardOutput() { captured = before_; }

Outcome<void> write_output(const std::string& path, const std::string& text) {
  if (!path.empty()) {
    if (auto written = write_file(path, text); !written) return cannot_write(written.error().text());
    return {};
  }
  if (captured != nullptr) {
    *captured << text;
    return {};
  }
  const int error = write_all(STDOUT_FILENO, escape::terminal(text));
  return error == 0 ? Outcome<void>() : cannot_write(std::string(kToStandardOutput) + std::strerror(error));
}

Outcome<void> make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return cannot_write("cannot make the folder " + escape::quoted_path(path) + ": " + error.message());
  return {};
}

Outcome<void> close_standard_output() {
  if (close(STDOUT_FILENO) == 0 || errno == EINTR) return {};
  return cannot_write(std::string(kToStandardOutput) + std::strerror(errno));
}

}  // namespace warpfold::cli
