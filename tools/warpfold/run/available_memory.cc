#include "tools/warpfold/run/available_memory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace warpfold::cli {

namespace fs = std::filesystem;

namespace {

// Returns the number in a file; none for "max", which means no limit. In cgroups v1 a number beyond any memory means the same.
std::optional<uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

std::optional<uint64_t> of_machine(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == "MemAvailable:") return kilobytes << 10U;
  }
  return std::nullopt;
}

void least(std::optional<uint64_t>& of, const std::optional<uint64_t>& other) {
  if (other) of = std::min(of.value_or(*other), *other);
}

// The files of a version of cgroups.
struct GroupFiles {
  const char* limit;
  const char* usage;
  std::array<std::string_view, 2> cache;  // lines of memory.stat that count cached file pages, which the kernel drops before a
                                          // group is full
};
constexpr GroupFiles kV2{"memory.max", "memory.current", {"active_file", "inactive_file"}};
constexpr GroupFiles kV1{"memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}};

uint64_t cached_in(const fs::path& folder, const GroupFiles& files) {
  std::ifstream stat(folder / "memory.stat");
  uint64_t cached = 0;
  std::string name;
  for (uint64_t bytes = 0; stat >> name >> bytes;) {
    if (std::ranges::find(files.cache, name) != files.cache.end()) cached += bytes;
  }
  return cached;
}

// Returns the memory available to a group. A limit holds for its group and all groups below.
std::optional<uint64_t> of_groups(const fs::path& mounted, fs::path group, const GroupFiles& files) {
  std::optional<uint64_t> available;
  while (true) {
    const fs::path folder = mounted / group.relative_path();
    const auto most = number_in(folder / files.limit);
    auto used = number_in(folder / files.usage);
    if (most && used) {
      *used -= std::min(*used, cached_in(folder, files));
      least(available, *most - std::min(*most, *used));
    }
    if (!group.has_relative_path()) return available;
    group = group.parent_path();
  }
}

}  // namespace

std::optional<uint64_t> available_memory(const fs::path& root) {
  std::optional<uint64_t> available = of_machine(root);
  // "0::/user.slice" in v2, "9:memory:/slurm/job_7" in v1.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") least(available, of_groups(root / "sys/fs/cgroup", group, kV2));
    if (controllers.find(",memory,") != std::string::npos) {
      least(available, of_groups(root / "sys/fs/cgroup/memory", group, kV1));
    }
  }
  return available;
}

}  // namespace warpfold::cli
