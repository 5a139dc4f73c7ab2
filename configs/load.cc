#include "configs/load.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "configs/axis_values.h"
#include "configs/base_chain.h"
#include "configs/check.h"
#include "configs/merge.h"
#include "configs/near_miss.h"
#include "configs/places.h"
#include "configs/printable.h"
#include "configs/read_file.h"
#include "configs/search_path.h"
#include "configs/settings.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

// Values that are set after the files have been merged.
class Setter {
 public:
  Setter(Scenario& scenario, Places& places) : scenario_(scenario), places_(places) {}

  using Setting = std::vector<std::string>::const_iterator;
  Expected<void> apply_settings(Setting first, Setting end) {
    for (; first != end; ++first) {
      if (auto applied = apply_setting(*first); !applied) return applied;
    }
    return {};
  }

  Expected<void> apply_parameters() {
    const auto parameters = scenario_.parameter();  // a copy: a target may not change what the loop runs over
    for (int i = 0; i < parameters.size(); ++i) {
      for (int t = 0; t < parameters[i].sets_size(); ++t) {
        if (auto applied = apply_target(parameters[i], i, t); !applied) return applied;
      }
    }
    return {};
  }

 private:
  Expected<void> apply_setting(const std::string& setting) {
    const Diagnostic place{"--set " + printable(setting), 0, 0, {}};
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) return fail_at(place.file, 0, 0, "expected PATH=VALUE");
    const std::string path = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    const bool plain = path.find_first_of(".[") == std::string::npos;
    if (plain && is_parameter(path)) return set("parameter." + path + ".value", value, place);
    if (of_gpu(path.substr(0, path.find('.')))) return set("gpu." + path, value, place);
    if (plain && Scenario::descriptor()->FindFieldByName(path) == nullptr) {
      return fail_at(place.file, 0, 0, "no parameter or field called " + in_quotes(path) + suggestion(path, plain_names()));
    }
    return set(path, value, place);
  }

  bool is_parameter(const std::string& name) const {
    for (const Parameter& parameter : scenario_.parameter()) {
      if (parameter.name() == name) return true;
    }
    return false;
  }

  // "sm.tensor.scale": the GPU's own groups are named without it. What both have is the scenario's.
  static bool of_gpu(const std::string& name) {
    const pb::FieldDescriptor* field = Gpu::descriptor()->FindFieldByName(name);
    return field != nullptr && Scenario::descriptor()->FindFieldByName(name) == nullptr;
  }

  std::vector<std::string> plain_names() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : scenario_.parameter()) names.push_back(parameter.name());
    for (int i = 0; i < Scenario::descriptor()->field_count(); ++i) names.push_back(Scenario::descriptor()->field(i)->name());
    return names;
  }

  Expected<void> set(const std::string& path, const std::string& value, const Diagnostic& place) {
    const auto resolved = set_field(scenario_, path, value);
    if (!resolved) return fail_at(place.file, place.line, place.column, resolved.error().message);
    if (*resolved == "base") return fail_at(place.file, 0, 0, "base is merged before settings and cannot be set");
    settings_[*resolved] = place.file;
    places_.add_value(*resolved, place);
    return {};
  }

  Expected<void> apply_target(const Parameter& parameter, int index, int target_index) {
    const Parameter::Target& target = parameter.sets(target_index);
    const std::string root = "parameter[" + std::to_string(index) + "]";
    const std::string own = root + ".sets[" + std::to_string(target_index) + "]";
    const auto wrong = [&](const std::string& path, const std::string& message) {
      return places_.fail({path, "parameter " + in_quotes(parameter.name()) + ": " + message});
    };
    const uint64_t times = target.has_times() ? target.times() : 1;
    const uint64_t divide = target.has_divide() ? target.divide() : 1;
    if (divide == 0) return wrong(own + ".divide", "divide must be at least 1, not 0");
    uint64_t product = 0;
    if (__builtin_mul_overflow(parameter.value(), times, &product)) return wrong(root + ".value", "value x times is too large");
    if (product % divide != 0) {
      return wrong(root + ".value",
                   std::to_string(product) + " must be a multiple of " + std::to_string(divide) + " to set " + target.path());
    }
    if (target.path().starts_with("parameter")) return wrong(own + ".path", "a parameter cannot set a parameter");
    const auto resolved = set_field(scenario_, target.path(), std::to_string(product / divide));
    if (!resolved) return wrong(own + ".path", resolved.error().message);
    const auto overridden = settings_.find(*resolved);
    if (overridden != settings_.end()) {
      return fail_at(
          overridden->second, 0, 0,
          "this field is set by parameter " + in_quotes(parameter.name()) + "; set that: --set " + parameter.name() + "=...");
    }
    places_.add_value(*resolved, places_.find(root + ".value"));
    return {};
  }

  Scenario& scenario_;
  Places& places_;
  std::map<std::string, std::string> settings_;  // path with indices -> "--set ..."
};

Expected<void> resolve_gpu(const std::string& scenario_path, Scenario& scenario, Places& places) {
  Gpu gpu;
  if (scenario.has_gpu_file()) {
    const auto path = find_beside(fs::path(scenario_path).parent_path(), scenario.gpu_file(), "gpus");
    if (!path) return places.fail({"gpu_file", path.error().message});
    Places gpu_places;
    if (auto loaded = BaseChain(gpu, gpu_places, "gpu.").load(*path, places.find("gpu_file")); !loaded) return loaded;
    places.put_below(std::move(gpu_places));
  }
  merge_over(gpu, scenario.gpu());
  *scenario.mutable_gpu() = gpu;
  scenario.clear_gpu_file();
  return {};
}

// A path written in `file`, seen from `folder`.
std::string beside(const std::string& file, const std::string& written, const fs::path& folder) {
  const fs::path path = fs::path(file).parent_path() / written;
  return fs::proximate(fs::absolute(path), fs::absolute(folder.empty() ? "." : folder)).lexically_normal().string();
}

// Launch descriptions of listings, from their files and what the scenario merges over them.
Expected<void> resolve_listings(const std::string& scenario_path, Scenario& scenario, Places& places) {
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    if (!scenario.kernel(k).has_listing()) continue;
    ListingFile& listing = *scenario.mutable_kernel(k)->mutable_listing();
    const std::string path = "kernel[" + std::to_string(k) + "].listing";
    if (listing.description().has_base()) {
      return places.fail({path + ".description.base", "a listing's description has no base; name the file in launch"});
    }
    if (!listing.has_launch()) continue;
    const fs::path folder = fs::path(scenario_path).parent_path();
    const auto file = find_beside(folder, listing.launch(), "kernels");
    if (!file) return places.fail({path + ".launch", file.error().message});
    KernelLaunch description;
    Places launch_places;
    BaseChain chain(description, launch_places, path + ".description.");
    if (auto loaded = chain.load(*file, places.find(path + ".launch")); !loaded) return loaded;
    places.put_below(std::move(launch_places));
    merge_over(description, listing.description());
    if (!listing.has_path() && description.has_listing()) listing.set_path(beside(*file, description.listing(), folder));
    *listing.mutable_description() = std::move(description);
    listing.clear_launch();
  }
  return {};
}

// The description is there before its fields are set.
bool names_launch_file(const std::string& setting) { return setting.substr(0, setting.find('=')).ends_with(".listing.launch"); }

}  // namespace

Expected<Gpu> load_gpu(const std::string& named) {
  Gpu gpu;
  Places places;
  const auto path = find_config(named, "gpus");
  if (!path) return std::unexpected(path.error());
  if (auto loaded = BaseChain(gpu, places, "").load(*path, {}); !loaded) return std::unexpected(loaded.error());
  if (const auto fault = find_gpu_fault(gpu, "")) return places.fail(*fault);
  return gpu;
}

Expected<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings, Places* written) {
  Scenario scenario;
  Places places;
  if (auto loaded = BaseChain(scenario, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
  Setter setter(scenario, places);
  std::vector<std::string> in_order = settings;
  const auto rest = std::ranges::stable_partition(in_order, names_launch_file).begin();
  if (auto applied = setter.apply_settings(in_order.begin(), rest); !applied) return std::unexpected(applied.error());
  if (auto resolved = resolve_listings(path, scenario, places); !resolved) return std::unexpected(resolved.error());
  if (auto applied = setter.apply_settings(rest, in_order.end()); !applied) return std::unexpected(applied.error());
  if (const auto fault = find_parameter_fault(scenario)) return places.fail(*fault);
  if (auto applied = setter.apply_parameters(); !applied) return std::unexpected(applied.error());
  if (!scenario.has_gpu_file() && !scenario.has_gpu()) return places.fail({"", "gpu_file is missing"});
  if (scenario.gpu().has_base()) return places.fail({"gpu.base", "a scenario's gpu has no base; name the file in gpu_file"});
  if (auto resolved = resolve_gpu(path, scenario, places); !resolved) return std::unexpected(resolved.error());
  if (scenario.name().empty()) scenario.set_name(fs::path(path).stem().string());
  if (const auto fault = find_scenario_fault(scenario)) return places.fail(*fault);
  if (const auto fault = find_gpu_fault(scenario.gpu(), "gpu.")) return places.fail(*fault);
  if (written != nullptr) *written = std::move(places);
  return scenario;
}

Expected<KernelLaunch> load_kernel_launch(const std::string& path, const std::vector<std::string>& settings, Places* written) {
  KernelLaunch launch;
  Places places;
  if (auto loaded = BaseChain(launch, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
  for (const std::string& setting : settings) {
    const Diagnostic place{"--set " + printable(setting), 0, 0, {}};
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) return fail_at(place.file, 0, 0, "expected PATH=VALUE");
    const auto resolved = set_field(launch, setting.substr(0, equals), setting.substr(equals + 1));
    if (!resolved) return fail_at(place.file, 0, 0, resolved.error().message);
    if (*resolved == "base") return fail_at(place.file, 0, 0, "base is merged before settings and cannot be set");
    places.add_value(*resolved, place);
  }
  if (written != nullptr) *written = std::move(places);
  return launch;
}

Expected<Study> load_study(const std::string& named, Places* written) {
  const auto found = find_config(named, "studies");
  if (!found) return std::unexpected(found.error());
  const std::string& path = *found;
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  Study study;
  Places places;
  auto locations = std::make_unique<pb::TextFormat::ParseInfoTree>();
  if (auto parsed = parse_located_text(path, *text, study, *locations); !parsed) return std::unexpected(parsed.error());
  places.add_file(path, "", *Study::descriptor(), std::move(locations));
  if (study.name().empty()) study.set_name(fs::path(path).stem().string());
  if (const auto fault = expand_axes(study)) return places.fail(*fault);
  if (const auto fault = find_study_fault(study)) return places.fail(*fault);
  if (study.has_layer()) {
    const auto model = find_beside(fs::path(path).parent_path(), study.layer().model(), "models");
    if (!model) return places.fail({"layer.model", model.error().message});
    study.mutable_layer()->set_model(fs::path(*model).lexically_normal().string());
    if (written != nullptr) *written = std::move(places);
    return study;
  }
  const auto scenario = find_beside(fs::path(path).parent_path(), study.scenario_file(), "scenarios");
  if (!scenario) return places.fail({"scenario_file", scenario.error().message});
  study.set_scenario_file(fs::path(*scenario).lexically_normal().string());
  if (written != nullptr) *written = std::move(places);
  return study;
}

}  // namespace warpfold::configs
