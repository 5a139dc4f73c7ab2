#include "configs/load.h"

#include <google/protobuf/descriptor.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "configs/axis_values.h"
#include "configs/base_chain.h"
#include "configs/block.h"
#include "configs/check.h"
#include "configs/merge.h"
#include "configs/model.h"
#include "configs/places.h"
#include "configs/read_file.h"
#include "configs/scenario_changes.h"
#include "configs/search_path.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

Expected<void> resolve_gpu(const std::string& scenario_path, Scenario& scenario, Places& places, ScenarioChanges& changes) {
  Gpu gpu;
  if (scenario.has_gpu_file()) {
    const auto path = find_beside(fs::path(scenario_path).parent_path(), scenario.gpu_file(), "gpus");
    if (!path) return places.fail({"gpu_file", path.error().message});
    Places gpu_places;
    if (auto loaded = BaseChain(gpu, gpu_places, "gpu.").load(*path, places.find("gpu_file")); !loaded) return loaded;
    places.put_below(std::move(gpu_places));
  }
  if (auto applied = changes.apply_to_gpu(gpu); !applied) return applied;
  *scenario.mutable_gpu() = gpu;
  scenario.clear_gpu_file();
  return {};
}

// The suggestion where a new list of kernels has taken the place of the base's, of which one kernel may have been meant.
std::string hint(const Scenario& scenario, const Finding& fault, const ScenarioChanges& changes) {
  constexpr std::string_view kElement = "kernel[";
  if (!fault.path.starts_with(kElement)) return {};
  const int index = std::stoi(fault.path.substr(kElement.size()));
  const std::string& name = scenario.kernel(index).name();
  if (!changes.replaces(name)) return {};
  return "; this list of kernels replaces the base's, to change one of them say set: \"kernel." + name + "...=...\"";
}

constexpr const char* kModel = "llama3_70b";  // of a block that names neither model nor embedding

// Adds the kernels of the scenario's block, for the architecture of the named GPU.
Expected<void> resolve_block(const std::string& scenario_path, Scenario& scenario, Places& places) {
  const fs::path folder = fs::path(scenario_path).parent_path();
  Gpu gpu;
  if (scenario.has_gpu_file()) {
    const auto path = find_beside(folder, scenario.gpu_file(), "gpus");
    if (!path) return places.fail({"gpu_file", path.error().message});
    Places unused;
    if (auto loaded = BaseChain(gpu, unused, "").load(*path, places.find("gpu_file")); !loaded) return loaded;
  }
  merge_over(gpu, scenario.gpu());
  if (!scenario.block().has_model() && !scenario.block().has_embedding()) scenario.mutable_block()->set_model(kModel);
  TransformerModel card;
  if (scenario.block().has_model()) {
    const auto file = find_beside(folder, scenario.block().model(), "models");
    if (!file) return places.fail({"block.model", file.error().message});
    auto loaded = load_model(*file, {});
    if (!loaded) return std::unexpected(loaded.error());
    if (loaded->operator__size() > 0)
      return places.fail({"block.model", *file + " lists its operators: a block needs a model card"});
    card = *std::move(loaded);
  }
  const Diagnostic place = places.find("block");
  const int own = scenario.kernel_size();
  if (const auto fault = make_block(card, gpu, scenario)) return places.fail(*fault);
  for (int k = own; k < scenario.kernel_size(); ++k) places.add_value("kernel[" + std::to_string(k) + "]", place);
  return {};
}

// A path written in `file`, seen from `folder`.
std::string beside(const std::string& file, const std::string& written, const fs::path& folder) {
  const fs::path path = fs::path(file).parent_path() / written;
  return fs::proximate(fs::absolute(path), fs::absolute(folder.empty() ? "." : folder)).lexically_normal().string();
}

// Reads the launch descriptions of listings from their files, and merges the scenario's own descriptions over them.
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
  ScenarioChanges changes(scenario, places);
  if (auto loaded = BaseChain(scenario, places, "", &changes).load(path, {}); !loaded) return std::unexpected(loaded.error());
  if (auto applied = changes.apply_settings(settings); !applied) return std::unexpected(applied.error());
  if (scenario.has_block()) {
    if (auto resolved = resolve_block(path, scenario, places); !resolved) return std::unexpected(resolved.error());
    if (auto applied = changes.apply_to_block(); !applied) return std::unexpected(applied.error());
  }
  if (auto resolved = resolve_listings(path, scenario, places); !resolved) return std::unexpected(resolved.error());
  if (auto applied = changes.apply_to_launches(); !applied) return std::unexpected(applied.error());
  if (const auto fault = find_parameter_fault(scenario)) return places.fail(*fault);
  if (auto applied = changes.apply_parameters(); !applied) return std::unexpected(applied.error());
  if (!scenario.has_gpu_file() && !scenario.has_gpu()) return places.fail({"", "gpu_file is missing"});
  if (scenario.gpu().has_base()) return places.fail({"gpu.base", "a scenario's gpu has no base; name the file in gpu_file"});
  if (auto resolved = resolve_gpu(path, scenario, places, changes); !resolved) return std::unexpected(resolved.error());
  if (scenario.name().empty()) scenario.set_name(fs::path(path).stem().string());
  if (auto fault = find_scenario_fault(scenario)) {
    fault->message += hint(scenario, *fault, changes);
    return places.fail(*fault);
  }
  if (const auto fault = find_gpu_fault(scenario.gpu(), "gpu.")) return places.fail(*fault);
  if (written != nullptr) *written = std::move(places);
  return scenario;
}

Expected<KernelLaunch> load_kernel_launch(const std::string& path, const std::vector<std::string>& settings, Places* written) {
  KernelLaunch launch;
  Places places;
  if (auto loaded = BaseChain(launch, places, "").load(path, {}); !loaded) return std::unexpected(loaded.error());
  if (auto applied = apply_settings(launch, settings, places); !applied) return std::unexpected(applied.error());
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
