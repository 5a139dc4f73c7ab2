#include "configs/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace warpfold {

namespace {

// assumed: fifty times the largest listing of configs/kernels; read and refused in 0.1 s.
constexpr size_t kLargestFile = size_t{64} << 20U;

}  // namespace

Expected<std::string> read_file(const std::string& path) {
  const auto cannot = [&path](const std::string& why) { return fail("cannot read \"" + path + "\": " + why); };
  std::error_code ignored;  // what cannot be examined cannot be opened either, and that is reported
  if (std::filesystem::is_directory(path, ignored)) return cannot("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  // Read to one byte beyond the limit rather than asked for the size, which a pipe does not have.
  std::string text;
  constexpr size_t kFirst = size_t{1} << 16U;
  while (file) {
    const size_t before = text.size();
    text.resize(std::min(std::max(2 * before, kFirst), kLargestFile + 1));
    file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<size_t>(file.gcount()));
    if (text.size() > kLargestFile) return cannot("it is larger than " + std::to_string(kLargestFile >> 20U) + " MiB");
  }
  if (file.bad()) return cannot(std::strerror(errno));
  return text;
}

}  // namespace warpfold
