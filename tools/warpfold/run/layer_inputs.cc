#include "tools/warpfold/run/layer_inputs.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "configs/base_chain.h"
#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/load.h"
#include "configs/model.h"
#include "configs/operator_kernels.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/scenario_changes.h"
#include "configs/search_path.h"
#include "configs/settings.h"
#include "tools/warpfold/run/file_kind.h"
#include "workloads/layer/listed.h"

namespace warpfold::cli {

namespace {

constexpr std::string_view kOfGpu = "gpu.";

// Applies all settings together and checks once, since a field may be valid only with another field's new value.
Outcome<configs::Gpu> load_gpu(const std::string& file, const std::vector<std::string>& settings) {
  std::vector<std::string> of_gpu;
  std::ranges::copy_if(settings, std::back_inserter(of_gpu), [](const auto& setting) { return setting.starts_with(kOfGpu); });
  configs::Scenario holder;  // paths of settings begin with its field `gpu`
  configs::Places places;
  if (auto loaded = configs::BaseChain(*holder.mutable_gpu(), places, std::string(kOfGpu)).load(file, {}); !loaded)
    return std::unexpected(Failure(loaded.error()));
  const auto wrong = [&places](const configs::Finding& fault) {
    return places.fail({std::string(kOfGpu) + fault.path, fault.message}).error();
  };
  if (const auto fault = configs::find_gpu_fault(holder.gpu(), "")) return std::unexpected(Failure(wrong(*fault)));
  if (auto applied = configs::apply_settings(holder, of_gpu, places); !applied) return std::unexpected(Failure(applied.error()));
  const configs::Gpu& gpu = holder.gpu();
  if (const auto fault = configs::find_gpu_fault(gpu, "")) {
    const Diagnostic found = wrong(*fault);
    // The file was valid before the settings.
    if (found.line > 0) return std::unexpected(Failure(Diagnostic{configs::setting_label(of_gpu.back()), 0, 0, found.message}));
    return std::unexpected(Failure(found));
  }
  if (gpu.clock() == configs::POWER)
    return std::unexpected(Failure(wrong({"clock", "layer takes clock FIXED; a layer's kernels have clocks of their own"})));
  return gpu;
}

}  // namespace

Outcome<void> read_layer_inputs(const LayerInputs& inputs, LayerRequest& request) {
  std::vector<std::string> of_model;
  for (const std::string& setting : inputs.settings) {
    if (!setting.starts_with(kOfGpu)) of_model.push_back(setting);
  }
  const auto card = find_of_kind(inputs.model, FileKind::kModel, "layer");
  if (!card) return std::unexpected(card.error());
  configs::Places places;
  auto model = configs::load_model(*card, of_model, &places);
  if (!model) return std::unexpected(Failure(model.error()));
  if (model->operator__size() > 0) {
    if (const auto listed = layer::listed_layer(*model); !listed)
      return std::unexpected(Failure(places.fail(listed.error()).error()));
  }
  if (model->past() > 0 && request.backward) {
    const configs::Finding fault{"past", "a layer with past tokens has no backward pass; add --forward, in a study forward: true"};
    return std::unexpected(Failure(places.fail(fault).error()));
  }
  request.model = std::move(*model);
  const auto machine = find_of_kind(inputs.gpu, FileKind::kGpu, "--gpu");
  if (!machine) return std::unexpected(machine.error());
  auto gpu = load_gpu(*machine, inputs.settings);
  if (!gpu) return std::unexpected(gpu.error());
  request.gpu = std::move(*gpu);
  const auto found = configs::find_config(inputs.kernels, "kernels");
  if (!found) return std::unexpected(Failure(found.error()));
  const auto table = find_of_kind(*found, FileKind::kOperators, "--kernels");
  if (!table) return std::unexpected(table.error());
  auto listings = configs::load_operator_kernels(*table, layer::work_names());
  if (!listings) return std::unexpected(Failure(listings.error()));
  request.listings = std::move(*listings);
  return {};
}

}  // namespace warpfold::cli
