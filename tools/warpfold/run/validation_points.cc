#include "tools/warpfold/run/validation_points.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/fold.h"
#include "tools/warpfold/figures/result.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/run/input_files.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

ValidationPoints::ValidationPoints(const RunOptions& how, std::string command_line, const std::string& resume)
    : how_(how), command_line_(std::move(command_line)), program_(program_hash()) {
  if (!resume.empty()) log_ = std::make_unique<PointLog>(resume);
}

std::string ValidationPoints::key_of(const validation::Run& run, bool alone) const {
  const sim::FoldOptions& fold = how_.folding.options;
  std::string all = program_ + " fold " + std::to_string(static_cast<int>(fold.mode)) + " " + std::to_string(fold.error) + " " +
                    std::to_string(fold.sampling_delay) + (how_.all_sms ? " all SMs" : "") + (alone ? " alone " : " ");
  all += run.scenario.DebugString() + hash_of_inputs(run.scenario, run.file);
  return content_hash(all);
}

void ValidationPoints::add(const validation::Run& run, bool alone) {
  std::string key = key_of(run, alone);
  if (index_.try_emplace(key, points_.size()).second) points_.push_back({run, alone, std::move(key)});
}

const Outcome<configs::SimulatedPoint>& ValidationPoints::find(const validation::Run& run, bool alone) const {
  return *points_[index_.at(key_of(run, alone))].ended;
}

size_t ValidationPoints::simulated() const {
  return static_cast<size_t>(std::ranges::count_if(points_, [](const Point& point) { return point.ended->has_value(); }));
}

Outcome<void> ValidationPoints::simulate_all() {
  if (log_ != nullptr) {
    if (auto opened = log_->open(); !opened) return opened;
  }
  const auto simulate_each = [&]() -> Outcome<void> {
    ProgressBar bar("simulations", points_.size());
    std::atomic<bool> full = false;  // no further point can be saved
    in_parallel(points_.size(), how_.jobs, [&](size_t i) {
      if (full || points_[i].ended) return;
      points_[i].ended = finish(points_[i]);
      if (!*points_[i].ended && points_[i].ended->error().exit_code == kCannotWrite) full = true;
      bar.step();
    });
    return {};
  };
  const auto kept = [&]() -> std::string {
    if (log_ == nullptr) return "no simulation is kept";
    const auto done = std::ranges::count_if(points_, [](const Point& point) { return point.ended.has_value(); });
    return std::to_string(done) + " of " + std::to_string(points_.size()) +
           " simulations are kept; the same command goes on from there";
  };
  if (auto done = unless_stopped(simulate_each, kept); !done) return done;
  for (const Point& point : points_) {
    if (point.ended && !*point.ended && point.ended->error().exit_code != kUserError) return std::unexpected(point.ended->error());
  }
  return {};
}

Outcome<configs::SimulatedPoint> ValidationPoints::finish(const Point& point) const {
  configs::SimulatedPoint known;
  if (log_ != nullptr && log_->find(point.key, known) && known.key() == point.key && holds_together(known, point.alone))
    return known;
  const auto start = std::chrono::steady_clock::now();
  auto made = simulate(point);
  if (!made) return made;
  made->set_key(point.key);
  if (log_ != nullptr) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    if (auto saved = log_->append(point.key, static_cast<uint64_t>(took.count()), *made); !saved)
      return std::unexpected(saved.error());
  }
  return made;
}

Outcome<configs::SimulatedPoint> ValidationPoints::simulate(const Point& point) const {
  workloads::KernelMaker kernels(point.run.file);
  const auto planned = plan_scenario(point.run.scenario, kernels);
  if (!planned) return std::unexpected(planned.error());
  if (point.alone || planned->scenario.gpu().clock() == configs::POWER) {
    RunOptions one = how_;
    one.jobs = 1;  // points run in parallel
    one.alone = point.alone;
    const auto results = Runner(kernels, command_line_, one).run({*planned});
    if (!results) return std::unexpected(results.error());
    return simulated_point(results->front());
  }
  const auto outcome = sim::simulate(
      planned->scenario.gpu(), make_launches(planned->plan),
      {.serialise = planned->plan.serialise, .all_sms = how_.all_sms, .threads = how_.threads, .fold = how_.folding.options});
  if (!outcome) return std::unexpected(Failure(outcome.error()));
  if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
  configs::Result result = make_result(planned->scenario, planned->plan, *outcome);
  fill_fold(*outcome, {}, result);
  return simulated_point(result);
}

}  // namespace warpfold::cli
