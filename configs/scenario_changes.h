#pragma once

#include <google/protobuf/text_format.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/settings.h"

namespace warpfold::configs {

// What a scenario's files, the command line and parameters change in it while it is loaded, in this order. Changes of the GPU, of a
// block's kernels and of launch descriptions are kept until the files are read and the kernels are made that these are over.
class ScenarioChanges {
 public:
  ScenarioChanges(Scenario& scenario, Places& places) : scenario_(scenario), places_(places) {}

  // `own`, one file of the base chain, has been merged into the scenario: carries out its `set` and `unset`, in the order in which
  // they are written. Files that they name lie beside `file` and are named as from `folder`.
  Expected<void> merged(const Scenario& own, const std::string& file, const std::filesystem::path& folder,
                        const google::protobuf::TextFormat::ParseInfoTree& locations);
  // "PATH=VALUE", ..., "unset PATH": a parameter may be named without its group, fields of the GPU as well.
  Expected<void> apply_settings(const std::vector<std::string>& settings);
  // Whether the kernel is stated by a file in place of one of its base's that has the name.
  bool replaces(const std::string& kernel) const { return replacing_.contains(kernel); }
  // What was kept for launch descriptions, which are there now.
  Expected<void> apply_to_launches();
  Expected<void> apply_parameters();
  // What was kept for a block's kernels, which are there now.
  Expected<void> apply_to_block();
  // Over the GPU's file, what the scenario's files, settings and parameters say of it.
  Expected<void> apply_to_gpu(Gpu& gpu);

 private:
  struct PlacedChange {
    Change change;
    Diagnostic place;                 // of the change, for what is wrong with it
    std::string label;                // goes before what is wrong
    Diagnostic value_place;           // for what is found to be wrong with the value
    std::string parameter = {};       // that it follows from
    std::filesystem::path from = {};  // folder of the file that states it, whose paths are named as from folder `to`
    std::filesystem::path to = {};
  };
  using Values = std::map<std::string, Diagnostic>;

  Expected<void> take(PlacedChange placed, const Values* settled = nullptr);
  // `settled`: what no parameter may set. `prefix`: the way from the scenario to `message`.
  Expected<void> execute(google::protobuf::Message& message, const std::string& prefix, const PlacedChange& placed,
                         const Values* settled);
  Expected<void> note(const Changed& changed, const std::string& prefix, const PlacedChange& placed, const Values* settled);
  Expected<void> name_in_full(PlacedChange& placed) const;
  Expected<void> apply_target(const Parameter& parameter, int index, int target_index, const Values& settled);
  void drop_targets_of(const std::string& kernel);
  void drop_targets_of_missing(const std::vector<std::string>& before);
  bool is_parameter(const std::string& name) const;
  std::vector<std::string> plain_names() const;

  Scenario& scenario_;
  Places& places_;
  std::vector<std::variant<Gpu, PlacedChange>> of_gpu_;  // in order
  std::vector<PlacedChange> of_block_;
  std::vector<PlacedChange> of_launches_;
  std::vector<std::string> kernels_;  // of the base of the file that is merged next
  std::set<std::string> replacing_;
  bool block_is_there_ = false;
  bool launches_are_there_ = false;
};

// Settings of another message, a model or a launch description.
Expected<void> apply_settings(google::protobuf::Message& message, const std::vector<std::string>& settings, Places& places);

// A path written in a file of folder `from` names the same file when written in one of folder `to`. The name of a file among the
// configurations is the same everywhere.
std::string rebased(const std::string& path, const std::filesystem::path& from, const std::filesystem::path& to);
void rebase_paths(Kernel& kernel, const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace warpfold::configs
