#pragma once

#include <google/protobuf/message.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/places.h"

namespace warpfold::configs {

class ScenarioChanges;

// Merges one `base:` chain into `merged`, from the innermost base outwards. Paths in it become relative to the
// outermost file. `prefix` is the way from the root message of `places` to `merged`, for example "gpu."; empty for the
// root.
class BaseChain {
 public:
  // `changes` carries out `set` and `unset` of a scenario's files; null for other messages.
  BaseChain(google::protobuf::Message& merged, Places& places, std::string prefix, ScenarioChanges* changes = nullptr)
      : merged_(merged), places_(places), prefix_(std::move(prefix)), changes_(changes) {}

  // `wanted_by` is the place that names the file, for a message about a file that cannot be read.
  Expected<void> load(const std::string& path, const Diagnostic& wanted_by);

 private:
  Expected<void> load_base(const std::string& file, google::protobuf::Message& own,
                           const google::protobuf::TextFormat::ParseInfoTree& locations);
  Expected<void> cycle(const std::string& file, const Diagnostic& wanted_by) const;

  google::protobuf::Message& merged_;
  Places& places_;
  std::string prefix_;
  ScenarioChanges* changes_;
  std::filesystem::path folder_;
  std::vector<std::pair<std::string, std::filesystem::path>> files_;  // the path as written, and the resolved path
};

}  // namespace warpfold::configs
