#include "tools/warpfold/output.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "configs/near_miss.h"

namespace warpfold::cli {

Outcome<Format> format_by_name(const std::string& name) {
  if (name == "table") return Format::kTable;
  if (name == "json") return Format::kJson;
  if (name == "csv") return Format::kCsv;
  return user_error("unknown format \"" + name + "\"" + suggestion(name, {"table", "json", "csv"}));
}

Outcome<Format> format_by_file_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".txt") return Format::kTable;
  if (extension == ".json") return Format::kJson;
  if (extension == ".csv") return Format::kCsv;
  return user_error("--output " + path + ": the name says no format; end it in .txt, .json or .csv, or give --format");
}

Outcome<void> write_output(const std::string& path, const std::string& text) {
  if (path.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) return user_error("cannot write to standard output");
    return {};
  }
  const auto cannot = [&path](const std::string& why) { return user_error("cannot write \"" + path + "\": " + why); };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return cannot("it is a directory");
  // The process id and a count keep two runs, or two threads, that write the same file from writing the same temporary file.
  static std::atomic<uint64_t> count{0};
  const std::string temporary = path + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".tmp";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    const std::string why = std::strerror(errno);
    std::filesystem::remove(temporary, error);
    return cannot(why);
  }
  std::filesystem::rename(temporary, path, error);
  if (!error) return {};
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return cannot(error.message());
}

}  // namespace warpfold::cli
