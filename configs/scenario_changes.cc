#include "configs/scenario_changes.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/merge.h"
#include "configs/near_miss.h"
#include "configs/search_path.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

constexpr std::string_view kOfGpu = "gpu.";
constexpr std::string_view kOfKernels = "kernel";

// "sm.tensor.scale": groups of the GPU may be named without it. A name that both have is the scenario's.
bool of_gpu(const std::string& name) {
  const pb::FieldDescriptor* field = Gpu::descriptor()->FindFieldByName(name);
  return field != nullptr && Scenario::descriptor()->FindFieldByName(name) == nullptr;
}

// "embedding"
bool of_block(const std::string& name) {
  return Block::descriptor()->FindFieldByName(name) != nullptr && Scenario::descriptor()->FindFieldByName(name) == nullptr;
}

// Only a listing of a kernel has a description.
bool of_launch(const std::string& path) { return path.starts_with(kOfKernels) && path.find(".description") != std::string::npos; }

// Returns whether the block makes the field.
bool of_kernels(const std::string& path) { return path.starts_with(kOfKernels) || path == "policy" || path.starts_with("policy."); }

// A field that holds the name of a file beside the scenario.
bool names_file(const std::string& path) {
  return path == "gpu_file" || path == "block.model" ||
         (path.starts_with(kOfKernels) && (path.ends_with(".path") || path.ends_with(".launch")));
}

std::vector<std::string> kernel_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Kernel& kernel : scenario.kernel()) names.push_back(kernel.name());
  return names;
}

std::unexpected<Diagnostic> wrong(const Diagnostic& place, const std::string& message) {
  return fail_at(place.file, place.line, place.column, message);
}

// Fields that are merged before settings.
bool is_merged_before(const std::string& path) { return path == "base" || path == "set" || path == "unset"; }

}  // namespace

std::string rebased(const std::string& path, const fs::path& from, const fs::path& to) {
  std::error_code missing;
  if (is_config_name(path) && !fs::is_regular_file(from / path, missing)) return path;
  if (fs::path(path).is_absolute() || from == to) return path;
  return fs::proximate(fs::absolute(from / path), fs::absolute(to.empty() ? "." : to)).lexically_normal().string();
}

void rebase_paths(Kernel& kernel, const fs::path& from, const fs::path& to) {
  if (kernel.trace().has_path()) kernel.mutable_trace()->set_path(rebased(kernel.trace().path(), from, to));
  if (!kernel.has_listing()) return;
  ListingFile& listing = *kernel.mutable_listing();
  if (listing.has_path()) listing.set_path(rebased(listing.path(), from, to));
  if (listing.has_launch()) listing.set_launch(rebased(listing.launch(), from, to));
}

Expected<void> ScenarioChanges::merged(const Scenario& own, const std::string& file, const fs::path& folder,
                                       const pb::TextFormat::ParseInfoTree& locations) {
  if (own.has_gpu()) of_gpu_.emplace_back(own.gpu());
  if (own.kernel_size() > 0) {
    of_launches_.clear();
    for (const Kernel& kernel : own.kernel()) {
      if (std::ranges::find(kernels_, kernel.name()) != kernels_.end()) replacing_.insert(kernel.name());
    }
    if (own.parameter().empty()) drop_targets_of_missing(kernels_);
  }
  std::vector<PlacedChange> placed;
  const auto read = [&](const char* field, int index, const std::string& text, Expected<Change> change) -> Expected<void> {
    const auto at = locations.GetLocation(Scenario::descriptor()->FindFieldByName(field), index);
    const Diagnostic place{file, at.line + 1, at.column + 1, {}};
    const std::string label = std::string(field) + " " + escape::quoted(text) + ": ";
    if (!change) return wrong(place, label + change.error().message);
    placed.push_back({*std::move(change), place, label, place});
    return {};
  };
  for (int i = 0; i < own.set_size(); ++i) {
    if (auto done = read("set", i, own.set(i), parse_change(own.set(i))); !done) return done;
  }
  for (int i = 0; i < own.unset_size(); ++i) {
    if (auto done = read("unset", i, own.unset(i), parse_setting(unset_setting(own.unset(i)))); !done) return done;
  }
  std::ranges::stable_sort(placed, {}, [](const PlacedChange& each) { return std::pair(each.place.line, each.place.column); });
  const fs::path from = fs::path(file).parent_path();
  for (PlacedChange& each : placed) {
    if (auto named = name_in_full(each); !named) return named;
    if (each.change.verb == Verb::kSet && names_file(each.change.path))
      each.change.value = rebased(each.change.value, from, folder);
    each.from = from;
    each.to = folder;
    if (auto taken = take(std::move(each)); !taken) return taken;
  }
  kernels_ = kernel_names(scenario_);
  return {};
}

Expected<void> ScenarioChanges::apply_settings(const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const Diagnostic place{setting_label(setting), 0, 0, {}};
    auto change = parse_setting(setting);
    if (!change) return wrong(place, change.error().message);
    PlacedChange placed{*std::move(change), place, {}, place};
    if (auto named = name_in_full(placed); !named) return named;
    // A file in the current folder is meant before one beside the scenario.
    std::error_code missing;
    if (placed.change.verb == Verb::kSet && names_file(placed.change.path) && fs::is_regular_file(placed.change.value, missing))
      placed.change.value = fs::absolute(placed.change.value).string();
    if (auto taken = take(std::move(placed)); !taken) return taken;
  }
  return {};
}

// Carries a change out or keeps it.
Expected<void> ScenarioChanges::take(PlacedChange placed, const Values* settled) {
  const Change& change = placed.change;
  if (block_is_there_ && change.path.starts_with("block"))
    return wrong(placed.place, placed.label + "the block's kernels are made before; set block in the file or by --set");
  if (change.path.starts_with(kOfGpu)) {
    scenario_.mutable_gpu();
    of_gpu_.emplace_back(std::move(placed));
    return {};
  }
  if (change.path == "gpu" && change.verb == Verb::kUnset) of_gpu_.clear();
  if (scenario_.has_block() && !block_is_there_ && of_kernels(change.path)) {
    of_block_.push_back(std::move(placed));
    return {};
  }
  if (of_launch(change.path) && !launches_are_there_) {
    of_launches_.push_back(std::move(placed));
    return {};
  }
  return execute(scenario_, "", placed, settled);
}

Expected<void> ScenarioChanges::apply_to_block() {
  block_is_there_ = true;
  for (PlacedChange& placed : of_block_) {
    if (auto taken = take(std::move(placed)); !taken) return taken;
  }
  return {};
}

Expected<void> ScenarioChanges::apply_to_launches() {
  launches_are_there_ = true;
  for (const PlacedChange& placed : of_launches_) {
    if (auto done = execute(scenario_, "", placed, nullptr); !done) return done;
  }
  return {};
}

Expected<void> ScenarioChanges::apply_to_gpu(Gpu& gpu) {
  std::optional<Values> settled;  // parameters come last
  for (const auto& each : of_gpu_) {
    if (const auto* own = std::get_if<Gpu>(&each)) {
      merge_over(gpu, *own);
      places_.supersede(std::string(kOfGpu), *own);
      continue;
    }
    const PlacedChange& placed = std::get<PlacedChange>(each);
    if (!placed.parameter.empty() && !settled) settled = places_.values();
    if (auto done = execute(gpu, std::string(kOfGpu), placed, settled ? &*settled : nullptr); !done) return done;
  }
  return {};
}

Expected<void> ScenarioChanges::apply_parameters() {
  const Values settled = places_.values();
  const auto parameters = scenario_.parameter();  // a copy: a target may not change what the loop runs over
  for (int i = 0; i < parameters.size(); ++i) {
    for (int t = 0; t < parameters[i].sets_size(); ++t) {
      if (auto applied = apply_target(parameters[i], i, t, settled); !applied) return applied;
    }
  }
  return {};
}

Expected<void> ScenarioChanges::apply_target(const Parameter& parameter, int index, int target_index, const Values& settled) {
  const Parameter::Target& target = parameter.sets(target_index);
  const std::string root = "parameter[" + std::to_string(index) + "]";
  const std::string own = root + ".sets[" + std::to_string(target_index) + "]";
  const std::string label = "parameter " + escape::quoted(parameter.name()) + ": ";
  const auto refuse = [&](const std::string& path, const std::string& message) { return places_.fail({path, label + message}); };
  const uint64_t times = target.has_times() ? target.times() : 1;
  const uint64_t divide = target.has_divide() ? target.divide() : 1;
  if (divide == 0) return refuse(own + ".divide", "divide must be at least 1, not 0");
  uint64_t product = 0;
  if (__builtin_mul_overflow(parameter.value(), times, &product)) return refuse(root + ".value", "value x times is too large");
  if (product % divide != 0) {
    return refuse(root + ".value",
                  std::to_string(product) + " must be a multiple of " + std::to_string(divide) + " to set " + target.path());
  }
  if (target.path().starts_with("parameter") || is_parameter(target.path()))
    return refuse(own + ".path", "a parameter cannot set a parameter");
  PlacedChange placed{{Verb::kSet, target.path(), std::to_string(product / divide)},
                      places_.find(own + ".path"),
                      label,
                      places_.find(root + ".value"),
                      parameter.name()};
  if (auto named = name_in_full(placed); !named) return named;
  return take(std::move(placed), &settled);
}

Expected<void> ScenarioChanges::execute(pb::Message& message, const std::string& prefix, const PlacedChange& placed,
                                        const Values* settled) {
  Change change = placed.change;
  change.path = change.path.substr(prefix.size());
  const std::vector<std::string> kernels = kernel_names(scenario_);
  const auto changed = apply_change(message, change);
  if (!changed) return wrong(placed.place, placed.label + changed.error().message);
  for (const Changed& each : *changed) {
    if (auto noted = note(each, prefix, placed, settled); !noted) return noted;
  }
  if (change.verb == Verb::kAdd && change.path == kOfKernels)
    rebase_paths(*scenario_.mutable_kernel()->rbegin(), placed.from, placed.to);
  drop_targets_of_missing(kernels);
  return {};
}

Expected<void> ScenarioChanges::note(const Changed& changed, const std::string& prefix, const PlacedChange& placed,
                                     const Values* settled) {
  const std::string path = prefix + changed.path;
  if (is_merged_before(path)) return wrong(placed.place, placed.label + path + " is merged before settings and cannot be set");
  if (!placed.parameter.empty() && settled->contains(path)) {
    const Diagnostic& place = settled->at(path);
    return wrong(place, "this field is set by parameter " + escape::quoted(placed.parameter) + "; set that: --set " +
                            placed.parameter + "=...");
  }
  if (changed.removed) {
    places_.remove_element(path);
  } else {
    places_.add_value(path, placed.value_place);
  }
  return {};
}

void ScenarioChanges::drop_targets_of_missing(const std::vector<std::string>& before) {
  const std::vector<std::string> left = kernel_names(scenario_);
  for (const std::string& kernel : before) {
    if (std::ranges::find(left, kernel) == left.end()) drop_targets_of(kernel);
  }
}

// A kernel that is gone is set by no parameter, and a parameter that sets nothing more is gone too.
void ScenarioChanges::drop_targets_of(const std::string& kernel) {
  const std::string way = std::string(kOfKernels) + "." + kernel + ".";
  for (int p = scenario_.parameter_size(); p-- > 0;) {
    auto& targets = *scenario_.mutable_parameter(p)->mutable_sets();
    const std::string root = "parameter[" + std::to_string(p) + "]";
    for (int t = targets.size(); t-- > 0;) {
      if (!targets[t].path().starts_with(way)) continue;
      targets.erase(targets.begin() + t);
      places_.remove_element(root + ".sets[" + std::to_string(t) + "]");
      if (!targets.empty()) continue;
      scenario_.mutable_parameter()->erase(scenario_.parameter().begin() + p);
      places_.remove_element(root);
      break;
    }
  }
}

// Parameters and fields of the GPU may be named without their group.
Expected<void> ScenarioChanges::name_in_full(PlacedChange& placed) const {
  std::string& path = placed.change.path;
  const bool plain = path.find_first_of(".[") == std::string::npos;
  if (plain && is_parameter(path)) {
    path = "parameter." + path + (placed.change.verb == Verb::kUnset ? "" : ".value");
  } else if (scenario_.has_block() && of_block(path)) {
    path.insert(0, "block.");
  } else if (of_gpu(path.substr(0, path.find('.')))) {
    path.insert(0, kOfGpu);
  } else if (plain && Scenario::descriptor()->FindFieldByName(path) == nullptr) {
    return wrong(placed.place,
                 placed.label + "no parameter or field called " + escape::quoted(path) + suggestion(path, plain_names()));
  }
  return {};
}

bool ScenarioChanges::is_parameter(const std::string& name) const {
  return std::ranges::any_of(scenario_.parameter(), [&](const Parameter& parameter) { return parameter.name() == name; });
}

std::vector<std::string> ScenarioChanges::plain_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : scenario_.parameter()) names.push_back(parameter.name());
  for (int i = 0; scenario_.has_block() && i < Block::descriptor()->field_count(); ++i)
    names.push_back(Block::descriptor()->field(i)->name());
  for (int i = 0; i < Scenario::descriptor()->field_count(); ++i) {
    const std::string& name = Scenario::descriptor()->field(i)->name();
    if (!is_merged_before(name)) names.push_back(name);
  }
  return names;
}

Expected<void> apply_settings(pb::Message& message, const std::vector<std::string>& settings, Places& places) {
  for (const std::string& setting : settings) {
    const Diagnostic place{setting_label(setting), 0, 0, {}};
    const auto change = parse_setting(setting);
    if (!change) return wrong(place, change.error().message);
    const auto changed = apply_change(message, *change);
    if (!changed) return wrong(place, changed.error().message);
    for (const Changed& each : *changed) {
      if (is_merged_before(each.path)) return wrong(place, each.path + " is merged before settings and cannot be set");
      if (each.removed) {
        places.remove_element(each.path);
      } else {
        places.add_value(each.path, place);
      }
    }
  }
  return {};
}

}  // namespace warpfold::configs
