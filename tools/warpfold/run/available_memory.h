#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace warpfold::cli {

// Returns the bytes that this process can still allocate: the minimum over the machine (MemAvailable of /proc/meminfo) and the
// process's control groups. A group has memory.max less memory.current in cgroups v2, memory.limit_in_bytes less
// memory.usage_in_bytes in v1. File pages in the cache (memory.stat) do not count as used. None if no file gives a number. `root`:
// root of the file system, for tests.
std::optional<uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace warpfold::cli
