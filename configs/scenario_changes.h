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

// Changes of a scenario while it is loaded: by its files, the command line and parameters, in this order. Changes of
// the GPU, of a block's kernels and of launch descriptions are deferred until their files are read and the kernels are
// made.
class ScenarioChanges {
 public:
  ScenarioChanges(Scenario& scenario, Places& places) : scenario_(scenario), places_(places) {}

  // Carries out `set` and `unset` of `own`, a file of the base chain that has been merged into the scenario, in the
  // order written. Files that they name lie beside `file` and are renamed relative to `folder`.
  Expected<void> merged(const Scenario& own, const std::string& file, const std::filesystem::path& folder,
                        const google::protobuf::TextFormat::ParseInfoTree& locations);
  // Applies "PATH=VALUE", ..., "unset PATH". Parameters and fields of the GPU may be named without their group.
  Expected<void> apply_settings(const std::vector<std::string>& settings);
  // Returns whether a file states the kernel in place of its base's kernel of the same name.
  bool replaces(const std::string& kernel) const { return replacing_.contains(kernel); }
  // Applies the deferred changes of launch descriptions, which have been read.
  Expected<void> apply_to_launches();
  Expected<void> apply_parameters();
  // Applies the deferred changes of a block's kernels, which have been made.
  Expected<void> apply_to_block();
  // Applies the changes of the GPU by the scenario's files, settings and parameters to `gpu`, as read from its file.
  Expected<void> apply_to_gpu(Gpu& gpu);

 private:
  struct PlacedChange {
    Change change;
    Diagnostic place;                 // of the change, for its diagnostics
    std::string label;                // goes before the message of a diagnostic
    Diagnostic value_place;           // for later faults of the value
    std::string parameter = {};       // from which the change follows
    std::filesystem::path from = {};  // folder of the file that states it, whose paths are named as from folder `to`
    std::filesystem::path to = {};
  };
  using Values = std::map<std::string, Diagnostic>;

  Expected<void> take(PlacedChange placed, const Values* settled = nullptr);
  // `settled` has the fields that no parameter may set. `prefix` is the way from the scenario to `message`.
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

// Applies settings to another message: a model or a launch description.
Expected<void> apply_settings(google::protobuf::Message& message, const std::vector<std::string>& settings, Places& places);

// A path written in a file of folder `from` names the same file when written in one of folder `to`. The name of a file among the
// configurations is the same everywhere.
std::string rebased(const std::string& path, const std::filesystem::path& from, const std::filesystem::path& to);
void rebase_paths(Kernel& kernel, const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace warpfold::configs
