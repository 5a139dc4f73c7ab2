#include "tools/warpfold/figures/study_runs.h"

#include <algorithm>

#include "configs/study_words.h"

namespace warpfold::cli {

namespace {

constexpr const char* kSimulation = "simulation";

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

std::optional<double> run_measure(const configs::StudyRun& run, std::string_view measure) {
  if (measure == "total_time_us") return run.total_time_us();
  if (measure == "energy_j" && run.has_energy_j()) return run.energy_j();
  if (measure == "stored_bits_mb") return static_cast<double>(run.stored_bits_bytes()) / 1e6;
  return std::nullopt;
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
