#include "tools/report/overall.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tools/report/number_text.h"

namespace warpfold::report {

namespace {

configs::Statement finding(std::initializer_list<std::string_view> text, std::initializer_list<std::string> fields) {
  configs::Statement made;
  for (const std::string_view part : text) made.mutable_text()->append(part);
  for (const std::string& field : fields) {
    if (!field.empty()) made.add_field(field);
  }
  return made;
}

std::string total_field(const configs::Run& run) { return run.path() + ".total_time_us"; }
double total(const configs::Run* run) { return run->result().total_time_us(); }

configs::Statement fastest_of(const std::vector<const configs::Run*>& runs) {
  const configs::Run& first = *runs.front();
  const configs::Run& fastest = **std::ranges::min_element(runs, {}, total);
  const std::string time = rounded(total(&fastest)) + " us";
  if (&fastest == &first) {
    return finding({"None of ", std::to_string(runs.size()), " runs is faster than the first, ", first.label(), ": ", time, "."},
                   {total_field(first)});
  }
  return finding({"Of ", std::to_string(runs.size()), " runs ", fastest.label(), " is the fastest: ", time, ", ",
                  fixed(total(&first) / total(&fastest), 3), " times as fast as ", first.label(), "."},
                 {total_field(fastest), total_field(first)});
}

configs::Statement change_of(const configs::Mover& mover, std::string_view begin) {
  const std::string values = rounded(mover.a()) + " to " + rounded(mover.b()) + " " + mover.unit();
  std::string relative;
  if (mover.has_relative()) {
    relative = std::string(mover.change() < 0 ? ", " : ", +") + percent_text(mover.relative());
  }
  return finding({begin, mover.what(), ": from ", values, relative, "."}, {mover.field_a(), mover.field_b()});
}

// The simulation of the same scenario under the same policy as a run of the limiter model.
const configs::Run* simulation_of(const configs::Run& model, const std::vector<const configs::Run*>& simulations) {
  const auto found = std::ranges::find_if(simulations, [&model](const configs::Run* run) {
    return run->result().scenario() == model.result().scenario() && run->result().policy() == model.result().policy();
  });
  return found == simulations.end() ? nullptr : *found;
}

}  // namespace

std::vector<configs::Statement> overall_findings(const configs::Report& report) {
  std::vector<const configs::Run*> simulations;
  for (const configs::Run& run : report.run()) {
    if (!run.result().has_model()) simulations.push_back(&run);
  }
  std::vector<configs::Statement> findings;
  if (report.has_difference()) {
    const auto& movers = report.difference().mover();
    if (movers.empty()) findings.push_back(finding({"No figure differs from A to B."}, {}));
    if (!movers.empty()) findings.push_back(change_of(movers[0], "From A to B, "));
    if (movers.size() > 1) findings.push_back(change_of(movers[1], "What moves most besides is "));
  } else if (simulations.size() > 1) {
    findings.push_back(fastest_of(simulations));
  }
  for (const configs::Run& run : report.run()) {
    const configs::Run* simulation = run.result().has_model() ? simulation_of(run, simulations) : nullptr;
    if (simulation == nullptr || total(simulation) <= 0) continue;
    findings.push_back(finding({"The limiter model says ", rounded(total(&run)), " us where the simulation says ",
                                rounded(total(simulation)), " us: ", percent_text(total(&run) / total(simulation)), " of it."},
                               {total_field(run), total_field(*simulation)}));
  }
  return findings;
}

}  // namespace warpfold::report
