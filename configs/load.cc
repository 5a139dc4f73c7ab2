#include "configs/load.h"

#include <google/protobuf/descriptor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "configs/check.h"
#include "configs/merge.h"
#include "configs/near_miss.h"
#include "configs/places.h"
#include "configs/printable.h"
#include "configs/read_file.h"
#include "configs/settings.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

// A path written in a file of folder `from` names the same file when written in one of folder `to`.
std::string rebased(const std::string& path, const fs::path& from, const fs::path& to) {
  if (fs::path(path).is_absolute() || from == to) return path;
  return fs::proximate(fs::absolute(from / path), fs::absolute(to.empty() ? "." : to)).lexically_normal().string();
}

void rebase_paths(pb::Message& message, const fs::path& from, const fs::path& to) {
  auto* scenario = dynamic_cast<Scenario*>(&message);
  if (scenario == nullptr) return;
  if (scenario->has_gpu_file()) scenario->set_gpu_file(rebased(scenario->gpu_file(), from, to));
  for (Kernel& kernel : *scenario->mutable_kernel()) {
    if (kernel.has_trace()) kernel.mutable_trace()->set_path(rebased(kernel.trace().path(), from, to));
  }
}

// One `base:` chain, merged into `merged` from the innermost base outwards.
class Chain {
 public:
  Chain(pb::Message& merged, Places& places, std::string prefix) : merged_(merged), places_(places), prefix_(std::move(prefix)) {}

  // `wanted_by`: where the file was named, for a message about a file that cannot be read.
  Expected<void> load(const std::string& path, const Diagnostic& wanted_by) {
    const std::string file = fs::path(path).lexically_normal().string();
    if (files_.empty()) folder_ = fs::path(file).parent_path();
    std::error_code ignored;  // a missing file is reported when it is read
    const fs::path identity = fs::weakly_canonical(file, ignored);
    for (const auto& open : files_) {
      if (open.second == identity) return cycle(file, wanted_by);
    }
    files_.emplace_back(file, identity);

    const auto text = read_file(file);
    if (!text) return fail_at(wanted_by.file, wanted_by.line, wanted_by.column, text.error().message);
    const std::unique_ptr<pb::Message> own(merged_.New());
    auto locations = std::make_unique<pb::TextFormat::ParseInfoTree>();
    if (auto parsed = parse_located_text(file, *text, *own, *locations); !parsed) return parsed;
    if (auto merged = load_base(file, *own, *locations); !merged) return merged;

    rebase_paths(*own, fs::path(file).parent_path(), folder_);
    merge_over(merged_, *own);
    places_.add_file(file, prefix_, *merged_.GetDescriptor(), std::move(locations));
    return {};
  }

 private:
  Expected<void> load_base(const std::string& file, pb::Message& own, const pb::TextFormat::ParseInfoTree& locations) {
    const pb::FieldDescriptor* field = own.GetDescriptor()->FindFieldByName("base");
    const pb::Reflection& reflection = *own.GetReflection();
    if (!reflection.HasField(own, field)) return {};
    const std::string base = reflection.GetString(own, field);
    reflection.ClearField(&own, field);
    const auto place = locations.GetLocation(field, -1);
    return load((fs::path(file).parent_path() / base).string(), Diagnostic{file, place.line + 1, place.column + 1, {}});
  }

  Expected<void> cycle(const std::string& file, const Diagnostic& wanted_by) const {
    std::string chain;
    for (const auto& open : files_) chain += open.first + " -> ";
    return fail_at(wanted_by.file, wanted_by.line, wanted_by.column, "base: files form a cycle: " + chain + file);
  }

  pb::Message& merged_;
  Places& places_;
  std::string prefix_;
  fs::path folder_;
  std::vector<std::pair<std::string, fs::path>> files_;  // as written, and what it is
};

// Values that are set after the files have been merged.
class Setter {
 public:
  Setter(Scenario& scenario, Places& places) : scenario_(scenario), places_(places) {}

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
    const std::string path = (fs::path(scenario_path).parent_path() / scenario.gpu_file()).string();
    Places gpu_places;
    if (auto loaded = Chain(gpu, gpu_places, "gpu.").load(path, places.find("gpu_file")); !loaded) return loaded;
    places.put_below(std::move(gpu_places));
  }
  gpu.MergeFrom(scenario.gpu());  // a GPU has no repeated fields
  *scenario.mutable_gpu() = gpu;
  scenario.clear_gpu_file();
  return {};
}

}  // namespace

Expected<Gpu> load_gpu(const std::string& path) {
  Gpu gpu;
  Places places;
  if (auto loaded = Chain(gpu, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
  if (const auto fault = find_gpu_fault(gpu, "")) return places.fail(*fault);
  return gpu;
}

Expected<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings, Places* written) {
  Scenario scenario;
  Places places;
  if (auto loaded = Chain(scenario, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
  Setter setter(scenario, places);
  for (const std::string& setting : settings) {
    if (auto applied = setter.apply_setting(setting); !applied) return std::unexpected(applied.error());
  }
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
  if (auto loaded = Chain(launch, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
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

Expected<Study> load_study(const std::string& path, Places* written) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  Study study;
  Places places;
  auto locations = std::make_unique<pb::TextFormat::ParseInfoTree>();
  if (auto parsed = parse_located_text(path, *text, study, *locations); !parsed) return std::unexpected(parsed.error());
  places.add_file(path, "", *Study::descriptor(), std::move(locations));
  if (study.name().empty()) study.set_name(fs::path(path).stem().string());
  if (const auto fault = find_study_fault(study)) return places.fail(*fault);
  study.set_scenario_file((fs::path(path).parent_path() / study.scenario_file()).lexically_normal().string());
  if (written != nullptr) *written = std::move(places);
  return study;
}

}  // namespace warpfold::configs
