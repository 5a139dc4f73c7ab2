#include "tools/warpfold/figures/study_front.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/expression.h"
#include "configs/study_words.h"

namespace warpfold::cli {

namespace {

// The range of a measure within the error bound; less is better. A measure to be maximized is negated.
struct Cost {
  double least;
  double most;
};

class Measures {
 public:
  Measures(const configs::Study& study, const configs::Front& front) : study_(study), turned_(front.minimize_size()) {
    texts_.assign(front.minimize().begin(), front.minimize().end());
    texts_.insert(texts_.end(), front.maximize().begin(), front.maximize().end());
  }

  const std::vector<std::string>& texts() const { return texts_; }

  // Returns the measures of a run whose time and energy are scaled by `times`; none if the run lacks a measure.
  Expected<std::optional<std::vector<double>>> of(const PointRun& run, double times) const {
    const std::vector<Placed> placed = placed_values(study_, run.point);
    const std::vector<std::string> known = configs::measures();
    bool lacks = false;
    const auto find = [&](std::string_view name) -> std::optional<configs::Word> {
      for (const Placed& each : placed) {
        if (each.name == name) return configs::word_of(each.value);
      }
      if (std::ranges::find(known, name) == known.end()) return std::nullopt;
      const auto value = run_measure(*run.run, name);
      lacks = lacks || !value;
      return name == "stored_bits_mb" ? value.value_or(0) : times * value.value_or(0);
    };
    std::vector<double> values;
    for (const std::string& text : texts_) {
      const auto value = configs::number_of(text, {.find = find, .known = known});
      if (!value) return std::unexpected(value.error());
      if (!lacks && !std::isfinite(*value))
        return fail(escape::quoted(text) + " is no finite number at " + escape::unquoted(point_name(study_, run.point)));
      values.push_back(*value);
    }
    if (lacks) return std::nullopt;
    return values;
  }

  Expected<std::vector<Cost>> costs_of(const MeasuredRun& measured) const {
    const double bound = measured.run.run->error_bound();
    const auto low = of(measured.run, 1 - bound);
    if (!low) return std::unexpected(low.error());
    const auto high = of(measured.run, 1 + bound);
    if (!high) return std::unexpected(high.error());
    std::vector<Cost> costs;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const double sign = sign_of(i);
      const auto [least, most] = std::minmax({sign * (**low)[i], sign * measured.values[i], sign * (**high)[i]});
      costs.push_back({least, most});
    }
    return costs;
  }

  double sign_of(size_t measure) const { return measure < static_cast<size_t>(turned_) ? 1 : -1; }

 private:
  const configs::Study& study_;
  int turned_;  // the first measure to be maximized
  std::vector<std::string> texts_;
};

std::string label_of(const configs::Study& study, const PointRun& run) {
  std::string label;
  for (size_t a = 0; a < run.point.size(); ++a) {
    const configs::Axis& axis = study.axis(static_cast<int>(a));
    if (axis.value_size() > 1) label.append(label.empty() ? "" : ", ").append(axis.name()).append("=").append(run.point[a]);
  }
  if (label.empty()) label = point_name(study, run.point);
  return study.policy_size() > 1 ? label + ", " + run.run->policy() : label;
}

bool dominates(const std::vector<Cost>& one, const std::vector<Cost>& other) {
  bool better = false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i].most > other[i].least) return false;
    better = better || one[i].most < other[i].least;
  }
  return better;
}

}  // namespace

Expected<FrontRuns> front_of(const configs::Study& study, const configs::Front& front, const PointRecords& records) {
  struct Candidate {
    std::vector<Cost> costs;
    const MeasuredRun* measured;
  };
  const Measures measures(study, front);
  FrontRuns found{.measures = measures.texts(), .all = {}, .best = {}};
  for (const PointRun& run : runs_of(grid_of(study), records)) {
    auto values = measures.of(run, 1);
    if (!values) return std::unexpected(values.error());
    if (*values) found.all.push_back({run, label_of(study, run), std::move(**values)});
  }
  std::vector<Candidate> candidates;
  for (const MeasuredRun& measured : found.all) {
    auto costs = measures.costs_of(measured);
    if (!costs) return std::unexpected(costs.error());
    candidates.push_back({std::move(*costs), &measured});
  }
  // Candidates are sorted by their least costs, so only an earlier run can dominate a run. Domination is transitive: comparing with
  // the front so far is enough.
  std::ranges::stable_sort(candidates, [](const Candidate& one, const Candidate& other) {
    return std::ranges::lexicographical_compare(one.costs, other.costs, {}, &Cost::least, &Cost::least);
  });
  std::vector<const Candidate*> best;
  for (const Candidate& candidate : candidates) {
    if (std::ranges::none_of(best, [&](const Candidate* known) { return dominates(known->costs, candidate.costs); }))
      best.push_back(&candidate);
  }
  for (const Candidate* candidate : best) found.best.push_back(*candidate->measured);
  const double sign = measures.sign_of(0);
  std::ranges::stable_sort(found.best, {}, [sign](const MeasuredRun& each) { return sign * each.values.front(); });
  return found;
}

}  // namespace warpfold::cli
