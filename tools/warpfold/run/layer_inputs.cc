#include "tools/warpfold/run/layer_inputs.h"

#include <string_view>
#include <utility>

#include "configs/check.h"
#include "configs/load.h"
#include "configs/model.h"
#include "configs/operator_kernels.h"
#include "configs/search_path.h"
#include "configs/settings.h"
#include "escape/quoted.h"
#include "escape/visible.h"
#include "tools/warpfold/run/file_kind.h"
#include "workloads/layer/listed.h"

namespace warpfold::cli {

namespace {

constexpr std::string_view kOfGpu = "gpu.";

Outcome<configs::Gpu> load_gpu(const std::string& file, const std::vector<std::string>& settings) {
  auto gpu = configs::load_gpu(file);
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  for (const std::string& setting : settings) {
    if (!setting.starts_with(kOfGpu)) continue;
    const size_t equals = setting.find('=');
    const std::string place = "--set " + escape::unquoted(setting) + ": ";
    if (equals == std::string::npos) return user_error(place + "expected PATH=VALUE");
    const auto set = configs::set_field(*gpu, setting.substr(kOfGpu.size(), equals - kOfGpu.size()), setting.substr(equals + 1));
    if (!set) return user_error(place + set.error().message);
    if (const auto fault = configs::find_gpu_fault(*gpu, "")) return user_error(place + fault->message);
  }
  if (gpu->clock() == configs::POWER)
    return user_error(file + ": layer takes clock FIXED; a layer's kernels have clocks of their own");
  return std::move(*gpu);
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
