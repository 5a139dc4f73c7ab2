#include "tools/report/overall.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/report/names.h"
#include "tools/report/number_text.h"
#include "tools/report/verdict.h"

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

// Returns the run with the least energy, if the clocks of all runs follow from power.
std::optional<configs::Statement> least_energy_of(const std::vector<const configs::Run*>& runs) {
  const bool known = std::ranges::all_of(runs, [](const configs::Run* run) { return run->result().has_power(); });
  if (!known) return std::nullopt;
  const auto joules = [](const configs::Run* run) { return run->result().power().joules(); };
  const configs::Run& first = *runs.front();
  const configs::Run& least = **std::ranges::min_element(runs, {}, joules);
  const std::string energy = rounded(1e3 * joules(&least)) + " mJ";
  if (&least == &first) return finding({first.label(), " takes the least energy: ", energy, "."}, {first.path() + ".power.joules"});
  return finding({least.label(), " takes the least energy: ", energy, ", ", percent_text(joules(&least) / joules(&first)), " of ",
                  first.label(), "'s."},
                 {least.path() + ".power.joules", first.path() + ".power.joules"});
}

configs::Statement change_of(const configs::Mover& mover) {
  const std::string values = rounded(mover.a()) + " to " + rounded(mover.b()) + " " + mover.unit();
  std::string relative;
  if (mover.has_relative()) {
    relative = std::string(mover.change() < 0 ? ", " : ", +") + percent_text(mover.relative());
  }
  return finding({"From A to B, ", mover.what(), ": from ", values, relative, "."}, {mover.field_a(), mover.field_b()});
}

// The state of a kernel with the largest decrease, or increase, of its warps' time: "rng: wait" of the kernel "rng".
struct Cause {
  const configs::Mover* state = nullptr;
  double share = 0;  // of the change of all states together; meaningful only if above 0
};

Cause cause_of(const configs::Difference& difference, const std::string& kernel, bool more) {
  Cause cause;
  double all = 0;
  for (const configs::Mover& mover : difference.mover()) {
    if (mover.group() != "state" || !mover.what().starts_with(kernel + ": ")) continue;
    all += mover.change();
    if ((mover.change() > 0) != more) continue;
    if (cause.state == nullptr || std::abs(mover.change()) > std::abs(cause.state->change())) cause.state = &mover;
  }
  if (cause.state != nullptr && all != 0) cause.share = cause.state->change() / all;
  return cause;
}

// Returns the simulation of the same scenario under the same policy as a run of the limiter model.
const configs::Run* simulation_of(const configs::Run& model, const std::vector<const configs::Run*>& simulations) {
  const auto found = std::ranges::find_if(simulations, [&model](const configs::Run* run) {
    return run->result().scenario() == model.result().scenario() && run->result().policy() == model.result().policy();
  });
  return found == simulations.end() ? nullptr : *found;
}

}  // namespace

std::optional<configs::Statement> kernel_change(const configs::Result& before, const configs::Difference& difference,
                                                std::optional<bool> longer) {
  const auto& movers = difference.mover();
  const auto kernel = std::ranges::find_if(movers, [longer](const configs::Mover& mover) {
    const bool asked = !longer || *longer == (mover.change() > 0);
    return asked && mover.group() == "kernel" && !mover.field_a().empty() && !mover.field_b().empty();
  });
  if (kernel == movers.end()) return std::nullopt;
  const std::string name = kernel->what().substr(0, kernel->what().rfind(": "));
  const std::string words = capitalised(kernel_words(before, name));
  const bool many = words.ends_with("numbers");
  const bool more = kernel->change() > 0;
  configs::Statement said =
      finding({words, many ? " take " : " takes ", rounded(std::abs(kernel->change())), more ? " us longer" : " us less"},
              {kernel->field_a(), kernel->field_b()});
  std::string& text = *said.mutable_text();
  if (const Cause cause = cause_of(difference, name, more); cause.share > 0 && cause.share <= 1) {
    const std::string state = cause.state->what().substr(name.size() + 2);
    text.append("; of the warp time that ")
        .append(many ? "they " : "it ")
        .append(more ? "add" : "save")
        .append(many ? ", " : "s, ");
    text.append(percent_text(cause.share)).append(state == "selected" ? " went into issuing" : " went into waiting for ");
    text.append(state == "selected" ? " instructions" : state_words(state));
    for (const std::string& field : {cause.state->field_a(), cause.state->field_b()}) {
      if (!field.empty()) said.add_field(field);
    }
  }
  text.append(".");
  return said;
}

std::vector<configs::Statement> overall_findings(const configs::Report& report) {
  std::vector<const configs::Run*> simulations;
  for (const configs::Run& run : report.run()) {
    if (!run.result().has_model()) simulations.push_back(&run);
  }
  std::vector<configs::Statement> findings;
  if (report.has_difference()) {
    const auto& movers = report.difference().mover();
    if (movers.empty()) findings.push_back(finding({"All figures of A and B are equal."}, {}));
    if (!movers.empty()) findings.push_back(change_of(movers[0]));
    if (auto change = kernel_change(report.run(0).result(), report.difference())) findings.push_back(std::move(*change));
  } else if (simulations.size() > 1) {
    std::vector<Contestant> contestants;
    for (const configs::Run* run : simulations) contestants.push_back({run->label(), run->path(), &run->result()});
    findings.push_back(verdict(contestants));
    if (auto least = least_energy_of(simulations)) findings.push_back(std::move(*least));
  }
  for (const configs::Run& run : report.run()) {
    const configs::Run* simulation = run.result().has_model() ? simulation_of(run, simulations) : nullptr;
    if (simulation == nullptr || total(simulation) <= 0) continue;
    findings.push_back(
        finding({"The limiter model gives ", rounded(total(&run)), " us, the simulation ", rounded(total(simulation)),
                 " us: ", percent_text(total(&run) / total(simulation)), " of the simulated time."},
                {total_field(run), total_field(*simulation)}));
  }
  return findings;
}

}  // namespace warpfold::report
