#include "configs/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "configs/escape/quoted.h"
#include "configs/write_file.h"

namespace warpfold {

namespace {

// assumed: fifty times the largest listing of configs/kernels; read and refused in 0.1 s.
constexpr size_t kLargestFile = size_t{64} << 20U;

using Watcher = void (*)(const std::string& path, size_t bytes);
std::atomic<Watcher>& watcher_of_reads() {
  static std::atomic<Watcher> watcher = nullptr;
  return watcher;
}

}  // namespace

Expected<std::string> read_file(const std::string& path) {
  const auto cannot = [&path](const std::string& why) { return fail("cannot read " + escape::quoted_path(path) + ": " + why); };
  std::error_code ignored;  // a file that cannot be examined cannot be opened either; the failure to open it is reported
  if (std::filesystem::is_directory(path, ignored)) return cannot("it is a directory");
  // A stream buffer that is copied ends at an error as at the end of the file.
  const int file = open_file(path.c_str(), O_RDONLY);
  if (file < 0) return cannot(std::strerror(errno));
  std::string text;
  std::array<char, 1U << 16U> piece{};
  ssize_t size = 0;
  while ((size = ::read(file, piece.data(), piece.size())) > 0 || (size < 0 && errno == EINTR)) {
    if (size > 0) text.append(piece.data(), static_cast<size_t>(size));
    if (text.size() > kLargestFile) break;
  }
  const int error = size < 0 ? errno : 0;
  close(file);
  if (text.size() > kLargestFile) return cannot("it is larger than " + std::to_string(kLargestFile >> 20U) + " MiB");
  if (error != 0) return cannot(std::strerror(error));
  if (const Watcher watcher = watcher_of_reads()) watcher(path, text.size());
  return text;
}

void watch_reads(Watcher watcher) { watcher_of_reads() = watcher; }

}  // namespace warpfold
