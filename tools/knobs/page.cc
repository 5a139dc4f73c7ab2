#include "tools/knobs/page.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tools/knobs/explanations.h"
#include "tools/knobs/fields.h"
#include "tools/knobs/findings.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::knobs {

namespace {

constexpr std::string_view kUnexplained = "not explained";

std::string_view better_of(std::string_view field) {
  switch (meaning_of(field).value_or(Meaning::kNeither)) {
    case Meaning::kMore:
      return "more";
    case Meaning::kLess:
      return "less";
    case Meaning::kNeither:
      return "neither";
  }
  return "";
}

std::string percent(double ratio, int decimals) { return report::fixed(100 * ratio, decimals) + " %"; }

// Factors as written: 0.5, 1, 1.1.
std::string factor_text(double factor) { return "x " + report::fixed(factor, factor == std::floor(factor) ? 0 : 1); }

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// Breaks the text into lines of at most 120 characters; `indent` starts every line but the first.
std::string in_lines(std::string_view text, std::string_view indent = "") {
  constexpr size_t kWidth = 120;
  std::string lines;
  size_t begin = 0;  // start of the last line
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (at > 0 && lines.size() - begin + 1 + word.size() > kWidth) {
      lines.append("\n");
      begin = lines.size();
      lines.append(indent);
    } else if (at > 0) {
      lines.append(" ");
    }
    lines.append(word);
    at = end + 1;
  }
  return lines + "\n";
}

// For example "+12.3 %"; "-" if the factor did not run.
std::string change_at(const Response* response, double factor) {
  if (response == nullptr) return "-";
  const auto found = std::ranges::find(response->runs, factor, &Run::factor);
  if (found == response->runs.end()) return "-";
  const std::string change = percent(found->time - 1, 1);
  return found->time >= 1 ? "+" + change : change;
}

std::string scenario_table(const Sweep& sweep) {
  cli::Table table({"scenario", "GPU", "kernels"});
  for (const SweptScenario& scenario : sweep.scenarios) table.add({code(scenario.name), scenario.gpu, scenario.description});
  return table.markdown();
}

std::string anomaly_section(const Sweep& sweep) {
  const std::vector<Anomaly> found = anomalies(sweep);
  if (found.empty()) return "None.\n";
  cli::Table table({"field", "from", "to", "scenario", "slower by", "mechanism"});
  for (const Anomaly& anomaly : found) {
    table.add({code(anomaly.field), factor_text(anomaly.worse), factor_text(anomaly.better), code(anomaly.scenario),
               percent(anomaly.slower, 1), std::string(mechanism_of(anomaly).value_or(kUnexplained))});
  }
  std::string text = table.markdown();
  for (const Mechanism& mechanism : mechanisms()) {
    text.append("\n").append(in_lines("- **" + std::string(mechanism.name) + "**: " + std::string(mechanism.text), "  "));
  }
  return text;
}

std::string inert_table(const std::vector<FieldReach>& fields, Reach reach) {
  cli::Table table({"field", "why"});
  for (const FieldReach& field : fields) {
    if (field.reach == reach) table.add({code(field.field), std::string(why_inert(field.field).value_or(kUnexplained))});
  }
  return table.markdown();
}

std::string field_table(const std::vector<FieldReach>& fields) {
  cli::Table table({"field", "better", "x 0.5", "x 0.9", "x 1.1", "x 2", "scenario", "moves"});
  for (const FieldReach& field : fields) {
    const Response* largest = field.largest;
    table.add({code(field.field), std::string(better_of(field.field)), change_at(largest, 0.5), change_at(largest, 0.9),
               change_at(largest, 1.1), change_at(largest, 2), field.reach == Reach::kMoves ? code(largest->scenario) : "none",
               std::to_string(field.moved)});
  }
  return table.markdown();
}

constexpr std::string_view kBegin = R"(# Knobs

Look here before you change a number of a [GPU file](gpus.md): which kernels it moves, in which direction, by how much.
`./dev knobs` writes this page. It multiplies every numeric field of [configs/gpu.proto](../configs/gpu.proto) by 0.5,
0.9, 1.1 and 2, one at a time, and simulates each of the scenarios below on every such machine. Fields called `scale`
are factors themselves; [What if](whatif.md) explains them.

)";

constexpr std::string_view kScenarios = R"(
## Scenarios

They lie in [tools/knobs/scenarios](../tools/knobs/scenarios): the kernel families, and a use of each field.

)";

constexpr std::string_view kAnomalies = R"(
## Anomalies

More of a resource, or less of a latency, makes a scenario slower by more than 0.5 % and folding's bounds. For each
field and scenario the table gives the pair of amounts with the largest loss. `./dev knobs` ends with exit code 1 if an
anomaly or an inert field has no reason on this page.

)";

constexpr std::string_view kInertFields = R"(
## Inert fields

No scenario's time moves by 0.1 % at any factor.

)";

constexpr std::string_view kNotRun = R"(
## Fields without a run

No factor of these fields gives a machine on which a scenario runs.

)";

constexpr std::string_view kFields = R"(
## Every field

The change of time of the scenario that moves most: +10.0 % is slower; last, how many of the scenarios move by 0.1 %. A
dash: rounding leaves the number as it is, or the machine is refused. `sm.warp_slots` and `sub_core.warp_slots` change
together, since one follows from the other; `sm.sub_cores` takes `sm.warp_slots` along.

`l2.hit_latency_cycles` moves kernels that wait for one load at a time. GEMMs and attention wait for a group of
asynchronous copies, of which the slowest comes from DRAM.

)";

}  // namespace

std::string page_of(const Sweep& sweep, const std::string& model) {
  const std::vector<FieldReach> fields = reach_of_fields(sweep);
  std::string text(kBegin);
  text.append(in_lines("The figures are those of the model at commit " + model + "."));
  text.append(kScenarios).append(scenario_table(sweep));
  text.append(kAnomalies).append(anomaly_section(sweep));
  text.append(kInertFields).append(inert_table(fields, Reach::kNothing));
  const std::string not_run = inert_table(fields, Reach::kNotRun);
  if (std::ranges::find(fields, Reach::kNotRun, &FieldReach::reach) != fields.end()) text.append(kNotRun).append(not_run);
  return text.append(kFields).append(field_table(fields));
}

std::string lists_of(const Sweep& sweep) {
  cli::Table found({"field", "from", "to", "scenario", "slower by", "mechanism"});
  for (const Anomaly& anomaly : anomalies(sweep)) {
    found.add({anomaly.field, factor_text(anomaly.worse), factor_text(anomaly.better), anomaly.scenario, percent(anomaly.slower, 2),
               std::string(mechanism_of(anomaly).value_or(kUnexplained))});
  }
  cli::Table inert({"field", "why"});
  for (const FieldReach& field : reach_of_fields(sweep)) {
    if (field.reach == Reach::kMoves) continue;
    const std::string why(why_inert(field.field).value_or(kUnexplained));
    inert.add({field.field, field.refused.empty() ? why : why + " (refused: " + field.refused + ")"});
  }
  return "Anomalies: more is slower by over 0.5 %\n" + found.aligned("  ") + "\nInert: no scenario moves by 0.1 %\n" +
         inert.aligned("  ");
}

bool is_explained(const Sweep& sweep) {
  return std::ranges::all_of(anomalies(sweep), [](const Anomaly& anomaly) { return mechanism_of(anomaly).has_value(); }) &&
         std::ranges::all_of(reach_of_fields(sweep), [](const FieldReach& field) {
           return field.reach == Reach::kMoves || why_inert(field.field).has_value();
         });
}

}  // namespace warpfold::knobs
