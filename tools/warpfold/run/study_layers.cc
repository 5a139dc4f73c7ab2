#include "tools/warpfold/run/study_layers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"
#include "configs/read_file.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/run/input_files.h"
#include "tools/warpfold/run/layer_inputs.h"
#include "workloads/layer/build.h"

namespace warpfold::cli {

namespace {

constexpr std::string_view kGpuFile = "gpu_file=";  // the setting that --gpu makes

LayerRequest wanted(const configs::LayerSubject& layer) {
  return {.backward = !layer.forward(), .fused = layer.fused(), .simulate = !layer.no_simulation()};
}

// Adds a warning for each operator whose time is the roofline's.
void add_warning(const configs::LayerReport& report, configs::StudyPoint& record) {
  if (report.simulations() == 0) return;
  for (const configs::LayerVersion& version : report.versions()) {
    for (const configs::LayerKernel& kernel : version.kernels()) {
      if (kernel.not_simulated().empty() || kernel.kind() == "communication") continue;
      configs::StudyRun& run = *record.add_run();
      run.set_policy(version.name());
      run.set_estimator("layer");
      run.add_warnings(kernel.name() + ": " + kernel.not_simulated() + ": its time is the roofline's");
    }
  }
}

}  // namespace

StudyLayers::StudyLayers(const StudyRequest& request)
    : study_(request.study), places_(request.places), settings_(request.settings), how_(request.how), program_(program_hash()) {}

// Returns the path of the axis value that the message `why` names; otherwise the model's path.
std::string StudyLayers::path_of(const Point& point, const std::string& why) const {
  for (const Placed& each : placed_values(study_, point)) {
    const bool is_file = each.name == "gpu" || each.name == "model";
    const bool named = is_file ? why.find(escape::visible(each.value)) != std::string::npos
                               : why.starts_with("--set " + escape::unquoted(each.name + "=" + each.value) + ": ");
    if (named) return each.path;
  }
  return "layer.model";
}

Outcome<LayerRequest> StudyLayers::request_of(const Point& point) const {
  LayerInputs inputs{.model = study_.layer().model()};
  if (study_.layer().has_gpu()) inputs.gpu = study_.layer().gpu();
  for (const std::string& setting : settings_) {
    if (setting.starts_with(kGpuFile))
      inputs.gpu = setting.substr(kGpuFile.size());
    else
      inputs.settings.push_back(setting);
  }
  for (const Placed& each : placed_values(study_, point)) {
    if (each.name == "model")
      inputs.model = each.value;
    else if (each.name == "gpu")
      inputs.gpu = each.value;
    else
      inputs.settings.push_back(each.name + "=" + each.value);
  }
  LayerRequest request = wanted(study_.layer());
  if (auto read = read_layer_inputs(inputs, request); !read)
    return std::unexpected(failure_at(point, read.error().text, read.error()));
  return request;
}

Failure StudyLayers::failure_at(const Point& point, const std::string& named, const Failure& why) const {
  Diagnostic place = places_.find(path_of(point, named));
  place.message = "study " + escape::unquoted(study_.name()) + " at " + point_name(study_, point) + ": " + why.text;
  return {why.exit_code, place.text()};
}

Outcome<std::string> StudyLayers::key(const Point& point) const {
  const auto request = request_of(point);
  if (!request) return std::unexpected(request.error());
  return key_of(*request);
}

std::string StudyLayers::key_of(const LayerRequest& request) const {
  std::string all =
      key_of_program(program_, how_) + study_.layer().DebugString() + request.model.DebugString() + request.gpu.DebugString();
  for (const configs::OperatorKernel& row : request.listings.kernel()) {
    all += row.DebugString();
    for (const std::string& file : {row.listing(), row.launch()}) {
      if (const auto bytes = read_file(file)) all += content_hash(*bytes);
    }
  }
  return content_hash(all);
}

Outcome<void> StudyLayers::check_figures(const Point& point) const {
  const auto request = request_of(point);
  if (!request) return std::unexpected(request.error());
  std::vector<std::string> known;
  for (const bool stacked : {false, true}) {
    if (stacked && !request->fused) break;
    for (const layer::Operator& each : layer::build_layer(request->model, {request->backward, true, stacked}).operators)
      known.push_back(each.name);
  }
  for (int f = 0; f < study_.figure_size(); ++f) {
    for (int q = 0; q < study_.figure(f).quantity_size(); ++q) {
      const configs::LayerQuantity& quantity = study_.figure(f).quantity(q).layer();
      for (const configs::LayerPart* part : {&quantity.of(), &quantity.over()}) {
        const auto unknown = std::ranges::find_if(
            part->operator_(), [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
        if (unknown == part->operator_().end()) continue;
        Diagnostic place = places_.find("figure[" + std::to_string(f) + "].quantity[" + std::to_string(q) + "]");
        place.message = "study " + escape::unquoted(study_.name()) + ", figure " + study_.figure(f).name() +
                        ": the layer has no operator called " + escape::quoted(*unknown) + suggestion(*unknown, known);
        return std::unexpected(Failure(place));
      }
    }
  }
  return {};
}

Outcome<configs::StudyPoint> StudyLayers::simulate(const Point& point, const std::string& key) const {
  auto request = request_of(point);
  if (!request) return std::unexpected(request.error());
  if (key_of(*request) != key) return changed_since(study_, point);
  request->how = how_;
  request->how.jobs = 1;  // points run in parallel
  auto report = run_layer(*request);
  if (!report) return failed_point(report.error());
  for (configs::LayerVersion& version : *report->mutable_versions()) version.clear_tensors();
  configs::StudyPoint record;
  add_warning(*report, record);
  *record.mutable_layer() = std::move(*report);
  return record;
}

}  // namespace warpfold::cli
