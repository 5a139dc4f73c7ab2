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

// One `base:` chain, merged into `merged` from the innermost base outwards. Paths in it become relative to the outermost file.
// `prefix`: where the message sits in the one that `places` is about, for example "gpu."; empty for the top.
class BaseChain {
 public:
  // `changes`: of a scenario, whose files change what their bases say.
  BaseChain(google::protobuf::Message& merged, Places& places, std::string prefix, ScenarioChanges* changes = nullptr)
      : merged_(merged), places_(places), prefix_(std::move(prefix)), changes_(changes) {}

  // `wanted_by`: where the file was named, for a message about a file that cannot be read.
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
  std::vector<std::pair<std::string, std::filesystem::path>> files_;  // as written, and what it is
};

}  // namespace warpfold::configs
