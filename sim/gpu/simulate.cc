#include "sim/gpu/simulate.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/gpu/admission.h"
#include "sim/gpu/gpu_run.h"
#include "sim/plan/assemble.h"
#include "sim/plan/executor.h"
#include "sim/sm/make_spec.h"

namespace warpfold::sim {
namespace {

// True if check_bounds accepts the launches with these bounds.
bool admits(const Spec& spec, std::vector<Launch> launches, const std::vector<PlacementBounds>& bounds,
            const std::vector<KernelImage>& images) {
  for (size_t l = 0; l < launches.size(); ++l) {
    static_cast<PlacementBounds&>(launches[l]) = bounds[l];
    if (!check_bounds(spec, launches[l], images[l].footprint)) return false;
  }
  return true;
}

Outcome run_once(const Spec& spec, const RunInputs& inputs, bool until_idle) {
  GpuRun gpu(spec, inputs.images, inputs.launches, inputs.options);
  return until_idle ? gpu.until_idle() : gpu.run();
}

Expected<RunInputs> make_inputs(const Spec& spec, const std::vector<Launch>& launches, const Options& options) {
  RunInputs inputs{.launches = launches, .images = {}, .options = options};
  for (const Launch& launch : launches) {
    auto image = make_image(spec, *launch.kernel, options.account);
    if (!image) return std::unexpected(image.error());
    if (const auto fits = check_bounds(spec, launch, image->footprint); !fits) return std::unexpected(fits.error());
    inputs.images.push_back(std::move(*image));
  }
  return inputs;
}

}  // namespace

Expected<Outcome> simulate(const Spec& spec, const std::vector<Launch>& launches, const Options& options) {
  const auto inputs = make_inputs(spec, launches, options);
  if (!inputs) return std::unexpected(inputs.error());
  const Executor::Simulate run = [&spec](const RunInputs& of, bool until_idle) { return run_once(spec, of, until_idle); };
  const bool planned = options.run_cache != nullptr && !options.all_sms && !options.timeline && !options.logs();
  Outcome outcome = planned ? Executor(spec, *inputs, run).run() : run(*inputs, false);
  if (options.keep_runs && !planned) {
    const auto whole = std::make_shared<const Outcome>(outcome);
    outcome.made = {std::make_shared<const MadeRun>(MadeRun{spec, *inputs, false, whole})};
  }
  settle_resources(spec, outcome);
  for (size_t which = 0; which < outcome.alternative_bounds.size(); ++which)
    outcome.alternative_bounds[which].same &= admits(spec, launches, options.alternative_bounds[which], inputs->images);
  return outcome;
}

Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, const Options& options) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  return simulate(*spec, launches, options);
}

std::shared_ptr<const Outcome> replayed(const MadeRun& run) {
  RunInputs inputs = run.inputs;
  inputs.options.fold = {.mode = FoldMode::kOff};
  inputs.options.timeline = false;
  inputs.options.issue_log = nullptr;
  inputs.options.cycle_log = nullptr;
  const auto simulate = [&] {
    Outcome outcome = run_once(run.spec, inputs, run.until_idle);
    return run.until_idle ? restrict_to_ran(std::move(outcome)) : outcome;
  };
  RunCache* known = run.until_idle ? inputs.options.run_cache : nullptr;
  return known != nullptr ? known->get(run.spec, inputs.launches, inputs.options, simulate)
                          : std::make_shared<const Outcome>(simulate());
}

bool differ_in_bounds_only(const std::vector<Launch>& one, const std::vector<Launch>& other) {
  return std::ranges::equal(one, other, [](Launch a, const Launch& b) {
    if (*a.kernel != *b.kernel) return false;
    a.kernel = b.kernel;
    static_cast<PlacementBounds&>(a) = b;
    return a == b;
  });
}

std::vector<PlacementBounds> bounds_of(const std::vector<Launch>& launches) { return {launches.begin(), launches.end()}; }

std::optional<Outcome> under_alternative_bounds(const Outcome& outcome, size_t which) {
  const AlternativeBounds& other = outcome.alternative_bounds[which];
  if (!other.same) return std::nullopt;
  Outcome result = outcome;
  for (size_t l = 0; l < result.kernels.size(); ++l) result.kernels[l].absent = other.absent[l];
  result.alternative_bounds.clear();
  return result;
}

}  // namespace warpfold::sim
