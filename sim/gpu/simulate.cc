#include "sim/gpu/simulate.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "sim/gpu/admission.h"
#include "sim/gpu/epochs.h"
#include "sim/gpu/gpu.h"
#include "sim/gpu/known_runs.h"
#include "sim/gpu/repeated_epoch.h"
#include "sim/sm/make_spec.h"

namespace warpfold::sim {
namespace {

// Whether the launches could have these bounds at all.
bool may_have(const Spec& spec, std::vector<Launch> launches, const std::vector<PlacementBounds>& bounds,
              const std::vector<KernelImage>& images) {
  for (size_t l = 0; l < launches.size(); ++l) {
    static_cast<PlacementBounds&>(launches[l]) = bounds[l];
    if (!check_bounds(spec, launches[l], images[l].footprint)) return false;
  }
  return true;
}

std::vector<KernelImage> images_of(const std::vector<KernelImage>& images, const Epoch& epoch) {
  std::vector<KernelImage> own;
  for (const size_t l : epoch) own.push_back(images[l]);
  return own;
}

// `ran`: launches of epoch `e`, by their places in it. The others are an epoch of their own.
void split(std::vector<Epoch>& epochs, size_t e, const std::vector<size_t>& ran) {
  Epoch first;
  for (const size_t place : ran) first.push_back(epochs[e][place]);
  Epoch rest;
  std::ranges::set_difference(epochs[e], first, std::back_inserter(rest));
  epochs[e] = std::move(first);
  if (!rest.empty()) epochs.insert(epochs.begin() + static_cast<ptrdiff_t>(e) + 1, std::move(rest));
}

// Epoch `e` and all behind it are one.
void join(std::vector<Epoch>& epochs, size_t e) {
  for (size_t later = e + 1; later < epochs.size(); ++later)
    epochs[e].insert(epochs[e].end(), epochs[later].begin(), epochs[later].end());
  std::ranges::sort(epochs[e]);
  epochs.resize(e + 1);
}

// Where a launch has waited for room, SMs that others stood for may have had it earlier: it is run again with all of them.
Outcome run_with(Outcome (GpuRun::*how)(), const Spec& spec, const std::vector<Launch>& launches,
                 const std::vector<KernelImage>& images, const Options& options) {
  GpuRun run(spec, images, launches, options);
  Outcome outcome = (run.*how)();
  if (outcome.deadlocked || !run.may_begin_earlier(outcome)) return outcome;
  Outcome again = (GpuRun(spec, images, launches, options, false).*how)();
  again.folds.insert(again.folds.end(), outcome.folds.begin(), outcome.folds.end());
  return again;
}

Outcome run_epochs(const Spec& spec, const std::vector<Launch>& launches, const std::vector<KernelImage>& images,
                   const Options& options);

// Launches that never meet, each side as if there were no other.
Outcome run_sides(const Spec& spec, const std::vector<Launch>& launches, const std::vector<Epoch>& sides,
                  const std::vector<KernelImage>& images, const Options& options) {
  std::vector<Outcome> outcomes;
  for (const Epoch& side : sides) {
    Options how = options;
    how.other_bounds = bounds_of_epoch(options.other_bounds, side);
    outcomes.push_back(run_epochs(spec, launches_of(launches, side), images_of(images, side), how));
  }
  return side_by_side(launches, sides, outcomes, options.other_bounds.size());
}

// Epoch by epoch, as far as each of them leaves an idle GPU to the next; what comes after is one run.
Outcome run_epochs(const Spec& spec, const std::vector<Launch>& launches, const std::vector<KernelImage>& images,
                   const Options& options) {
  std::vector<Epoch> epochs = epochs_of(launches, options.serialise);
  // None is known to leave an idle GPU then (GpuRun::may_leave_idle).
  if (spec.kernel_launch == 0 && epochs.size() > 1) join(epochs, 0);
  std::vector<std::shared_ptr<const Outcome>> outcomes;
  std::vector<std::shared_ptr<const FoldReport>> in_vain;
  const auto run = [&](const Epoch& epoch) -> std::shared_ptr<const Outcome> {
    const std::vector<Launch> own = launches_of(launches, epoch);
    Options how = options;
    how.serialise = options.serialise && epoch.size() > 1;
    how.other_bounds = bounds_of_epoch(options.other_bounds, epoch);
    const std::vector<KernelImage> own_images = images_of(images, epoch);
    if (const std::vector<Epoch> sides = sides_of(spec, own, how.serialise); sides.size() > 1)
      return std::make_shared<const Outcome>(run_sides(spec, own, sides, own_images, how));
    return options.known->get(spec, own, how,
                              [&] { return of_those_that_ran(run_with(&GpuRun::until_idle, spec, own, own_images, how)); });
  };
  // What begins as an earlier part of the same launches did is not looked up, as others may be making it: which of two bounded runs
  // is taken must not depend on that.
  const auto as_before = [&](const Epoch& epoch) -> std::shared_ptr<const Outcome> {
    for (size_t e = 0; options.other_bounds.empty() && e < outcomes.size(); ++e) {
      const auto part = begins_like(launches, epoch, epochs[e], *outcomes[e], options.serialise);
      if (!part) continue;
      auto again = std::make_shared<Outcome>(*outcomes[e]);
      again->ran.clear();
      for (const size_t l : *part) again->ran.push_back(std::ranges::lower_bound(epoch, l) - epoch.begin());
      return again;
    }
    return nullptr;
  };
  for (size_t e = 0; e < epochs.size(); ++e) {
    outcomes.push_back(as_before(epochs[e]));
    if (outcomes.back() == nullptr) outcomes.back() = run(epochs[e]);
    const Outcome& outcome = *outcomes.back();
    split(epochs, e, outcome.ran);
    // Who waits for whom is said of all launches.
    if (outcome.deadlocked) return run_with(&GpuRun::run, spec, launches, images, options);
    if (outcome.left_idle || e + 1 == epochs.size()) continue;
    join(epochs, e);
    in_vain = outcome.folds;
    outcomes.back() = run(epochs[e]);
    split(epochs, e, outcomes.back()->ran);
    if (outcomes.back()->deadlocked) return run_with(&GpuRun::run, spec, launches, images, options);
  }
  std::vector<const Outcome*> each;
  for (const auto& outcome : outcomes) each.push_back(outcome.get());
  Outcome whole = in_sequence(spec, launches, epochs, each, options.other_bounds.size());
  whole.folds.insert(whole.folds.end(), in_vain.begin(), in_vain.end());
  return whole;
}

}  // namespace

Expected<Outcome> simulate(const Spec& spec, const std::vector<Launch>& launches, const Options& options) {
  std::vector<KernelImage> images;
  for (const Launch& launch : launches) {
    auto image = make_image(spec, *launch.kernel, options.account);
    if (!image) return std::unexpected(image.error());
    if (const auto fits = check_bounds(spec, launch, image->footprint); !fits) return std::unexpected(fits.error());
    images.push_back(std::move(*image));
  }
  const bool in_epochs = options.known != nullptr && !options.all_sms && !options.timeline && options.issue_log == nullptr;
  Outcome outcome =
      in_epochs ? run_epochs(spec, launches, images, options) : run_with(&GpuRun::run, spec, launches, images, options);
  settle_resources(spec, outcome);
  for (size_t which = 0; which < outcome.other_bounds.size(); ++which)
    outcome.other_bounds[which].same &= may_have(spec, launches, options.other_bounds[which], images);
  return outcome;
}

Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, const Options& options) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  return simulate(*spec, launches, options);
}

bool same_but_for_bounds(const std::vector<Launch>& one, const std::vector<Launch>& other) {
  return std::ranges::equal(one, other, [](Launch a, const Launch& b) {
    if (*a.kernel != *b.kernel) return false;
    a.kernel = b.kernel;
    static_cast<PlacementBounds&>(a) = b;
    return a == b;
  });
}

std::vector<PlacementBounds> bounds_of(const std::vector<Launch>& launches) { return {launches.begin(), launches.end()}; }

std::optional<Outcome> under_other_bounds(const Outcome& outcome, size_t which) {
  const OtherBounds& other = outcome.other_bounds[which];
  if (!other.same) return std::nullopt;
  Outcome result = outcome;
  for (size_t l = 0; l < result.kernels.size(); ++l) result.kernels[l].absent = other.absent[l];
  result.other_bounds.clear();
  return result;
}

}  // namespace warpfold::sim
