#include "traces/trace_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "configs/write_file.h"
#include "traces/compression.h"
#include "traces/trace_encoding.h"

namespace warpfold::traces {

namespace {

// Largest size before and after decompression: about four million instructions, while a rolled program is kilobytes. It
// limits the memory that a hostile file can make the program allocate.
constexpr size_t kLargestContent = size_t{64} << 20U;

std::unexpected<Diagnostic> cannot(const std::string& file, const std::string& what, int error) {
  return fail_at(file, 0, 0, "cannot " + what + ": " + std::strerror(error));
}

Expected<std::string> read_bytes(const std::string& path) {
  std::error_code unknown;  // ignored: opening the path reports why it cannot be inspected
  if (std::filesystem::is_directory(path, unknown)) {
    return cannot(path, "read the trace", EISDIR);
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return cannot(path, "read the trace", errno);
  }
  // Reads up to one byte beyond the limit instead of asking for the size, because a pipe has none.
  std::string bytes(1U << 16U, '\0');
  size_t size = 0;
  while (stream.read(bytes.data() + size, static_cast<std::streamsize>(bytes.size() - size))) {
    size = bytes.size();
    if (size > kLargestContent) {
      return fail_at(path, 0, 0, "more than " + std::to_string(kLargestContent >> 20U) + " MiB: too large for a trace");
    }
    bytes.resize(2 * size);
  }
  if (stream.bad()) {
    return cannot(path, "read the trace", errno);
  }
  bytes.resize(size + static_cast<size_t>(stream.gcount()));
  return bytes;
}

}  // namespace

Expected<std::string> trace_bytes(const std::string& path, const std::vector<Kernel>& kernels) {
  const Expected<std::string> content = encode_kernels(path, kernels);
  if (!content) {
    return content;
  }
  if (content->size() > kLargestContent) {
    return fail_at(path, 0, 0, "more than " + std::to_string(kLargestContent >> 20U) + " MiB of instructions: keep loops rolled");
  }
  return compress(*content);
}

Expected<void> write_trace(const std::string& path, const std::vector<Kernel>& kernels) {
  const Expected<std::string> bytes = trace_bytes(path, kernels);
  return bytes ? write_file(path, *bytes) : std::unexpected(bytes.error());
}

Expected<std::vector<Kernel>> read_trace(const std::string& path, std::vector<TextPlaces>* places) {
  const Expected<std::string> bytes = read_bytes(path);
  if (!bytes) {
    return std::unexpected(bytes.error());
  }
  if (std::filesystem::path(path).extension() == ".wfs") return parse_kernels(path, *bytes, places);
  const Expected<std::string> content = decompress(path, *bytes, kLargestContent);
  if (!content) {
    return std::unexpected(content.error());
  }
  Expected<std::vector<Kernel>> kernels = decode_kernels(path, *content);
  if (kernels && places != nullptr) places->resize(kernels->size());
  return kernels;
}

}  // namespace warpfold::traces
