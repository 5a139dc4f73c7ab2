#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace warpfold::cli {

// Bytes that a process could still take: of the machine (MemAvailable of /proc/meminfo), and of the control groups that it is in
// (memory.max less memory.current in cgroups v2, memory.limit_in_bytes less memory.usage_in_bytes in v1; pages of files in the
// cache, of memory.stat, do not count as used). The least of them; none where no file says. `root`: of the file system, for tests.
std::optional<uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace warpfold::cli
