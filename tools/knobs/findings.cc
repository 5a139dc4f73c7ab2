#include "tools/knobs/findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tools/knobs/fields.h"

namespace warpfold::knobs {

namespace {

std::optional<Anomaly> anomaly_of(const Response& response, Meaning meaning) {
  std::vector<Run> from_worse = response.runs;
  from_worse.push_back({});  // the unchanged scenario
  std::ranges::sort(from_worse, {}, &Run::factor);
  if (meaning == Meaning::kLess) std::ranges::reverse(from_worse);
  std::optional<Anomaly> worst;
  for (size_t worse = 0; worse < from_worse.size(); ++worse) {
    for (size_t better = worse + 1; better < from_worse.size(); ++better) {
      const double slower = from_worse[better].time / from_worse[worse].time - 1;
      if (slower <= kAnomaly + from_worse[worse].noise + from_worse[better].noise) continue;
      if (worst && slower <= worst->slower) continue;
      worst = Anomaly{response.field, response.scenario, from_worse[worse].factor, from_worse[better].factor, slower};
    }
  }
  return worst;
}

double largest_move(const Response& response) {
  double largest = 0;
  for (const Run& run : response.runs) largest = std::max(largest, std::abs(run.time - 1));
  return largest;
}

}  // namespace

std::vector<Anomaly> anomalies(const Sweep& sweep) {
  std::vector<Anomaly> found;
  for (const Response& response : sweep.responses) {
    const auto meaning = meaning_of(response.field);
    if (!meaning || *meaning == Meaning::kNeither) continue;
    if (auto anomaly = anomaly_of(response, *meaning)) found.push_back(*std::move(anomaly));
  }
  return found;
}

std::vector<FieldReach> reach_of_fields(const Sweep& sweep) {
  std::vector<FieldReach> rows;
  for (const std::string& field : sweep.fields) rows.push_back({.field = field, .refused = {}});
  const size_t scenarios = sweep.scenarios.size();
  for (size_t r = 0; r < sweep.responses.size(); ++r) {
    const Response& response = sweep.responses[r];
    FieldReach& row = rows[r / scenarios];
    if (!response.refused.empty()) row.refused = response.refused;
    if (response.runs.empty()) continue;
    row.moved += largest_move(response) >= kInert ? 1 : 0;
    if (row.largest == nullptr || largest_move(response) > largest_move(*row.largest)) row.largest = &response;
  }
  for (FieldReach& row : rows) {
    if (row.largest != nullptr) row.reach = row.moved > 0 ? Reach::kMoves : Reach::kNothing;
  }
  return rows;
}

}  // namespace warpfold::knobs
