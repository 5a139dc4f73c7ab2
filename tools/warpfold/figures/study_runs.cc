#include "tools/warpfold/figures/study_runs.h"

#include <algorithm>

#include "configs/study_words.h"

namespace warpfold::cli {

namespace {

constexpr const char* kSimulation = "simulation";

// Of a run; not of its point.
std::optional<double> run_measure(const configs::StudyRun& run, std::string_view measure) {
  if (measure == "total_time_us") return run.total_time_us();
  if (measure == "energy_j" && run.has_energy_j()) return run.energy_j();
  if (measure == "stored_bits_mb") return static_cast<double>(run.stored_bits_bytes()) / 1e6;
  return std::nullopt;
}

// Each measure with its sign turned so that less is better.
std::optional<std::vector<double>> costs_of(const configs::Study& study, const configs::Front& front, const PointRun& run) {
  std::vector<double> costs;
  for (const std::string& measure : front.minimize()) {
    const auto value = measure_of(study, run, measure);
    if (!value) return std::nullopt;
    costs.push_back(*value);
  }
  for (const std::string& measure : front.maximize()) {
    const auto value = measure_of(study, run, measure);
    if (!value) return std::nullopt;
    costs.push_back(-*value);
  }
  return costs;
}

bool beats(const std::vector<double>& one, const std::vector<double>& other) {
  bool better = false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i] > other[i]) return false;
    better = better || one[i] < other[i];
  }
  return better;
}

}  // namespace

std::vector<PointRun> runs_of(const std::vector<Point>& points, const PointRecords& records) {
  std::vector<PointRun> runs;
  for (const Point& point : points) {
    const auto record = records.find(point);
    if (record == records.end()) continue;
    for (const configs::StudyRun& run : record->second.run()) {
      if (run.estimator() == kSimulation) runs.push_back({point, &run});
    }
  }
  return runs;
}

std::optional<double> measure_of(const configs::Study& study, const PointRun& run, const std::string& measure) {
  if (const auto value = run_measure(*run.run, measure)) return value;
  for (const Placed& placed : placed_values(study, run.point)) {
    if (placed.name == measure) return configs::number_in(placed.value);
  }
  return std::nullopt;
}

// In order of cost, so that a run can only be beaten by one of the front so far.
std::vector<PointRun> front_of(const configs::Study& study, const configs::Front& front, const std::vector<PointRun>& runs) {
  struct Candidate {
    std::vector<double> costs;
    const PointRun* run;
  };
  std::vector<Candidate> candidates;
  for (const PointRun& run : runs) {
    if (auto costs = costs_of(study, front, run)) candidates.push_back({std::move(*costs), &run});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::costs);
  std::vector<const Candidate*> best;
  for (const Candidate& candidate : candidates) {
    if (std::ranges::none_of(best, [&](const Candidate* known) { return beats(known->costs, candidate.costs); }))
      best.push_back(&candidate);
  }
  std::vector<PointRun> kept;
  kept.reserve(best.size());
  for (const Candidate* candidate : best) kept.push_back(*candidate->run);
  return kept;
}

Expected<bool> holds_at(const configs::Study& study, const std::string& condition, const Point& point,
                        const configs::StudyPoint& record) {
  const std::vector<Placed> placed = placed_values(study, point);
  const bool one_policy = study.policy_size() <= 1;
  return configs::holds(condition, {.find = [&](std::string_view name) -> std::optional<configs::Word> {
                                      for (const Placed& each : placed) {
                                        if (each.name == name) return configs::word_of(each.value);
                                      }
                                      for (const configs::StudyRun& run : record.run()) {
                                        if (run.estimator() != kSimulation) continue;
                                        std::string_view measure = name;
                                        if (measure.starts_with(run.policy() + ".")) {
                                          measure.remove_prefix(run.policy().size() + 1);
                                        } else if (!one_policy) {
                                          continue;
                                        }
                                        if (const auto value = run_measure(run, measure)) return *value;
                                      }
                                      return std::nullopt;
                                    },
                                    .known = configs::words_of_runs(study)});
}

std::string fastest_policy(const configs::StudyPoint& record) {
  const configs::StudyRun* fastest = nullptr;
  for (const configs::StudyRun& run : record.run()) {
    if (run.estimator() == kSimulation && (fastest == nullptr || run.total_time_us() < fastest->total_time_us())) fastest = &run;
  }
  return fastest == nullptr ? "" : fastest->policy();
}

}  // namespace warpfold::cli
