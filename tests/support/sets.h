#pragma once

#include <set>
#include <string>

namespace warpfold::test {

// Says how a set differs from the expected one: "missing: timers; one too many: pipe_warp"; empty if both are the same.
inline std::string differences(const std::set<std::string>& found, const std::set<std::string>& expected) {
  const auto without = [](const std::set<std::string>& all, const std::set<std::string>& known, const char* what) {
    std::string names;
    for (const std::string& name : all) {
      if (!known.contains(name)) names.append(names.empty() ? what : ", ").append(name);
    }
    return names;
  };
  const std::string missing = without(expected, found, "missing: ");
  const std::string more = without(found, expected, "one too many: ");
  return missing + (missing.empty() || more.empty() ? "" : "; ") + more;
}

}  // namespace warpfold::test
