#include "tools/warpfold/run/self_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "configs/escape/quoted.h"
#include "sim/plan/outcome_difference.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

namespace {

using Runs = std::vector<std::shared_ptr<const sim::MadeRun>>;

// Returns equal simulations once.
Runs distinct(const std::vector<const sim::Outcome*>& outcomes) {
  Runs runs;
  for (const sim::Outcome* outcome : outcomes) {
    for (const auto& run : outcome->made) {
      if (std::ranges::none_of(runs, [&](const auto& known) { return known->outcome == run->outcome; })) runs.push_back(run);
    }
  }
  return runs;
}

std::string kernel_of(const sim::MadeRun& run, size_t launch) {
  return "kernel " + escape::unquoted(run.inputs.launches[launch].kernel->name);
}

std::string kernels_of(const sim::MadeRun& run) {
  std::string names;
  for (const size_t launch : run.outcome->ran) names += (names.empty() ? "" : ", ") + kernel_of(run, launch);
  return names;
}

[[noreturn]] void differs(const std::string& where, const std::string& figure, uint64_t folded, uint64_t replayed,
                          const std::string& by = "") {
  const std::string amount =
      folded > replayed ? std::to_string(folded - replayed) + " more" : std::to_string(replayed - folded) + " less";
  throw std::logic_error("self-check: " + where + ": " + figure + " is " + std::to_string(folded) + " folded and " +
                         std::to_string(replayed) + " replayed (" + (by.empty() ? amount : by) + ")");
}

void compare_exact(const sim::MadeRun& run, const sim::Outcome& replayed) {
  const auto found = sim::first_difference(*run.outcome, replayed);
  if (!found) return;
  differs(found->kernel ? kernel_of(run, run.outcome->ran[*found->kernel]) : kernels_of(run), found->figure, found->one,
          found->other);
}

uint64_t cycles_of(const sim::KernelCounters& kernel) { return kernel.end_cycle - kernel.start_cycle; }

// Returns the largest relative error of a kernel's cycles.
double compare_bounded(const sim::MadeRun& run, const sim::Outcome& replayed) {
  const sim::Outcome& folded = *run.outcome;
  double worst = 0;
  for (size_t k = 0; k < folded.ran.size(); ++k) {
    // Estimated cycles may move the point at which the GPU was idle and the run stopped, so the replay may lack a launch.
    const auto place = std::ranges::find(replayed.ran, folded.ran[k]);
    if (place == replayed.ran.end()) continue;
    const sim::KernelCounters& one = folded.kernels[k];
    const sim::KernelCounters& other = replayed.kernels[static_cast<size_t>(place - replayed.ran.begin())];
    const std::string kernel = kernel_of(run, folded.ran[k]);
    if (one.instructions != other.instructions) differs(kernel, "instructions", one.instructions, other.instructions);
    if (one.ctas != other.ctas) differs(kernel, "ctas", one.ctas, other.ctas);
    if (one.l2_bytes != other.l2_bytes) differs(kernel, "l2_bytes", one.l2_bytes, other.l2_bytes);
    const double off = std::abs(static_cast<double>(cycles_of(one)) - static_cast<double>(cycles_of(other)));
    const double error = off / static_cast<double>(std::max<uint64_t>(cycles_of(other), 1));
    if (error > folded.fold.error_bound)
      differs(
          kernel, "cycles", cycles_of(one), cycles_of(other),
          "off by " + report::fixed(100 * error, 3) + " %; the bound is " + report::fixed(100 * folded.fold.error_bound, 3) + " %");
    worst = std::max(worst, error);
  }
  return worst;
}

double compare(const sim::MadeRun& run, const sim::Outcome& replayed) {
  if (replayed.deadlocked) throw std::logic_error("self-check: " + kernels_of(run) + ": a deadlock, which folding has passed");
  if (run.outcome->fold.mode == sim::Folded::kBounded) return compare_bounded(run, replayed);
  compare_exact(run, replayed);
  return 0;
}

}  // namespace

SelfCheck::SelfCheck(const std::vector<sim::Outcome>& outcomes, uint64_t budget, unsigned jobs) : budget_(budget) {
  std::vector<const sim::Outcome*> all;
  for (const sim::Outcome& outcome : outcomes) all.push_back(&outcome);
  Runs runs = distinct(all);
  std::ranges::stable_sort(runs, {}, [](const auto& run) { return run->instructions_of_replay(); });
  for (uint64_t left = budget; auto& run : runs) {
    const uint64_t instructions = run->instructions_of_replay();
    if (instructions > left) break;
    left -= instructions;
    checked_.push_back({std::move(run)});
  }
  ProgressBar bar("self-check", checked_.size());
  in_parallel(checked_.size(), jobs, [&](size_t i) {
    Checked& each = checked_[i];
    each.cycles_error = compare(*each.run, *sim::replayed(*each.run));
    bar.step();
  });
}

const SelfCheck::Checked* SelfCheck::find(const sim::MadeRun& run) const {
  const auto found = std::ranges::find_if(checked_, [&](const Checked& each) { return each.run->outcome == run.outcome; });
  return found == checked_.end() ? nullptr : &*found;
}

configs::SelfCheck SelfCheck::of(const std::vector<const sim::Outcome*>& outcomes) const {
  configs::SelfCheck check;
  check.set_budget(budget_);
  for (const auto& run : distinct(outcomes)) {
    const uint64_t kernels = run->outcome->kernels.size();
    const uint64_t instructions = run->outcome->fold.instructions_of_classes;
    check.set_kernels(check.kernels() + kernels);
    check.set_instructions(check.instructions() + instructions);
    check.set_skips(check.skips() + run->outcome->fold.skips);
    check.set_skips_checked(check.skips_checked() + run->outcome->fold.skips_checked);
    const Checked* checked = find(*run);
    if (checked == nullptr) continue;
    check.set_kernels_checked(check.kernels_checked() + kernels);
    check.set_instructions_checked(check.instructions_checked() + instructions);
    check.set_cycles_error(std::max(check.cycles_error(), checked->cycles_error));
  }
  return check;
}

}  // namespace warpfold::cli
