#include "tools/warpfold/run/available_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace warpfold::cli {

namespace fs = std::filesystem;

namespace {

// "max", or a number beyond any memory: no limit.
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

// A limit holds for a group and all below it.
std::optional<uint64_t> of_groups(const fs::path& mounted, fs::path group, const char* limit, const char* usage) {
  std::optional<uint64_t> available;
  while (true) {
    const fs::path folder = mounted / group.relative_path();
    const auto most = number_in(folder / limit);
    const auto used = number_in(folder / usage);
    if (most && used) least(available, *most - std::min(*most, *used));
    if (!group.has_relative_path()) return available;
    group = group.parent_path();
  }
}

}  // namespace

std::optional<uint64_t> available_memory(const fs::path& root) {
  std::optional<uint64_t> available = of_machine(root);
  // "0::/user.slice" of v2, "9:memory:/slurm/job_7" of v1.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") least(available, of_groups(root / "sys/fs/cgroup", group, "memory.max", "memory.current"));
    if (controllers.find(",memory,") != std::string::npos) {
      least(available, of_groups(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return available;
}

}  // namespace warpfold::cli
