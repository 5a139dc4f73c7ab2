#include "tools/warpfold/render/output.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "configs/near_miss.h"
#include "escape/quoted.h"
#include "escape/terminal.h"

namespace warpfold::cli {

namespace fs = std::filesystem;

namespace {

thread_local std::ostream* standard_output = &std::cout;

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

std::optional<fs::path> file_behind(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return std::nullopt;
  fs::path file(path);
  constexpr int kMostLinks = 40;  // as the kernel has it
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(file, error)); ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  file = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? fs::path(path) : file;  // links in a circle lead nowhere
}

StandardOutput::StandardOutput(std::ostream& stream) : before_(std::exchange(standard_output, &stream)) {}
StandardOutput::~StandardOutput() { standard_output = before_; }

Outcome<void> write_output(const std::string& path, const std::string& text) {
  if (path.empty()) {
    std::ostream& out = *standard_output;
    out << escape::terminal(text) << std::flush;
    if (!out) return user_error("cannot write to standard output");
    return {};
  }
  const auto cannot = [&path](const std::string& why) {
    return user_error("cannot write " + escape::quoted_path(path) + ": " + why);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return cannot("it is a directory");
  const auto behind = file_behind(path);  // a device or a pipe has no other file put in its place, nor has a link
  const bool in_place = !behind;
  const std::string target = behind.value_or(path).string();
  // The process id and a count keep two runs, or two threads, that write the same file from writing the same temporary file.
  static std::atomic<uint64_t> count{0};
  const std::string temporary =
      in_place ? target : target + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".tmp";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    const std::string why = std::strerror(errno);
    if (!in_place) fs::remove(temporary, error);
    return cannot(why);
  }
  if (in_place) return {};
  if (fs::exists(status)) fs::permissions(temporary, status.permissions(), error);
  fs::rename(temporary, target, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return cannot(error.message());
}

}  // namespace warpfold::cli
