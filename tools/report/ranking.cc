#include "tools/report/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace warpfold::report {

namespace {

// An estimated run that two results contain.
struct Shared {
  double a_us = 0;
  double b_us = 0;
  double error_bound = 0;
};

// Returns the error of a result that does not list its estimated runs.
double error_of_whole_us(const configs::Result& result) {
  return result.fold().has_total_error_bound() ? 0 : result.total_time_us() * result.fold().error_bound();
}

// Returns the microseconds of a cycle; results of one document may have different clocks.
double cycle_us(const configs::Result& result) {
  return result.total_cycles() == 0 ? 0 : result.total_time_us() / static_cast<double>(result.total_cycles());
}

}  // namespace

double error_of_difference_us(const configs::Result& a, const configs::Result& b) {
  if (&a == &b) return 0;
  std::map<uint32_t, Shared> runs;
  const auto add = [&runs](const configs::Result& result, double Shared::* us) {
    for (const configs::EstimatedRun& each : result.fold().estimated()) {
      Shared& run = runs[each.run()];
      run.*us += static_cast<double>(each.cycles()) * cycle_us(result);
      run.error_bound = each.error_bound();
    }
  };
  add(a, &Shared::a_us);
  add(b, &Shared::b_us);
  double error = error_of_whole_us(a) + error_of_whole_us(b);
  for (const auto& [number, run] : runs) error += std::abs(run.a_us - run.b_us) * run.error_bound;
  return error;
}

std::vector<uint32_t> ranks(const std::vector<const configs::Result*>& runs) {
  std::vector<uint32_t> places;
  for (const configs::Result* run : runs) {
    const auto faster = std::ranges::count_if(runs, [run](const configs::Result* other) {
      return run->total_time_us() - other->total_time_us() > error_of_difference_us(*run, *other);
    });
    places.push_back(1 + static_cast<uint32_t>(faster));
  }
  return places;
}

std::vector<std::optional<configs::Tie>> ties(const std::vector<const configs::Result*>& runs,
                                              const std::vector<std::string>& labels) {
  const std::vector<uint32_t> places = ranks(runs);
  std::map<uint32_t, size_t> fastest;  // by place
  for (size_t r = 0; r < runs.size(); ++r) {
    const auto [known, first] = fastest.try_emplace(places[r], r);
    if (!first && runs[r]->total_time_us() < runs[known->second]->total_time_us()) known->second = r;
  }
  std::vector<std::optional<configs::Tie>> ties(runs.size());
  for (size_t r = 0; r < runs.size(); ++r) {
    const size_t best = fastest.at(places[r]);
    if (best == r) continue;
    const double time = runs[best]->total_time_us();
    configs::Tie& tie = ties[r].emplace();
    tie.set_fastest(labels[best]);
    if (time <= 0) continue;
    tie.set_slower(runs[r]->total_time_us() / time - 1);
    tie.set_told_apart_from(error_of_difference_us(*runs[r], *runs[best]) / time);
  }
  return ties;
}

void rank(configs::Comparison& comparison, const std::vector<std::string>& labels) {
  const std::vector<const configs::Result*> runs(comparison.results().pointer_begin(), comparison.results().pointer_end());
  const std::vector<uint32_t> places = ranks(runs);
  const std::vector<std::optional<configs::Tie>> tied = ties(runs, labels);
  for (int r = 0; r < comparison.results_size(); ++r) {
    configs::Result& result = *comparison.mutable_results(r);
    result.set_rank(places[static_cast<size_t>(r)]);
    result.clear_tie();
    if (const auto& tie = tied[static_cast<size_t>(r)]) *result.mutable_tie() = *tie;
  }
}

void rank_policies(configs::Comparison& comparison) {
  std::vector<std::string> labels;
  for (const configs::Result& result : comparison.results()) labels.push_back(result.policy());
  rank(comparison, labels);
}

}  // namespace warpfold::report
