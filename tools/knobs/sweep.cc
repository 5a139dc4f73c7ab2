#include "tools/knobs/sweep.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "tools/knobs/fields.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"
#include "tools/warpfold/run/variant_runs.h"

namespace warpfold::knobs {

namespace {

// An unchanged scenario.
struct Base {
  cli::VariedScenario scenario;
  configs::Result result;
  std::shared_ptr<sim::RunCache> known = std::make_shared<sim::RunCache>();  // shared by variants with equal simulations
};

struct Trial {
  size_t base;
  size_t response;
  double factor;
  std::vector<std::string> settings;
  std::optional<Run> run;
  std::string refused;
};

cli::RunOptions one_at_a_time() {
  cli::RunOptions how;
  how.alone = false;
  return how;
}

cli::Outcome<std::vector<Base>> simulate_bases(const std::vector<std::string>& files, unsigned jobs) {
  std::vector<Base> bases(files.size());
  std::vector<std::optional<cli::Failure>> failures(files.size());
  cli::in_parallel(files.size(), jobs, [&](size_t b) {
    bases[b].scenario = {.file = files[b], .settings = {}, .command_line = "knobs"};
    auto result = cli::simulate_variant(bases[b].scenario, {}, one_at_a_time(), bases[b].known);
    if (result) {
      bases[b].result = std::move(*result);
    } else {
      failures[b] = result.error();
    }
  });
  for (const auto& failure : failures) {
    if (failure) return std::unexpected(*failure);
  }
  return bases;
}

std::vector<Trial> trials_of(const std::vector<Base>& bases, const Sweep& sweep) {
  std::vector<Trial> trials;
  for (size_t r = 0; r < sweep.responses.size(); ++r) {
    const size_t base = r % bases.size();
    for (const double factor : kFactors) {
      auto settings = settings_of(bases[base].result.provenance().scenario().gpu(), sweep.responses[r].field, factor);
      if (!settings.empty()) trials.push_back({base, r, factor, std::move(settings), {}, {}});
    }
  }
  return trials;
}

std::optional<cli::Failure> carry_out(const Base& base, Trial& trial) {
  const auto varied = cli::simulate_variant(base.scenario, trial.settings, one_at_a_time(), base.known);
  if (varied) {
    trial.run = Run{.factor = trial.factor,
                    .time = varied->total_time_us() / base.result.total_time_us(),
                    .noise = base.result.fold().error_bound() + varied->fold().error_bound()};
  } else if (cli::is_of_the_variant(varied.error())) {
    trial.refused = cli::why_not_run(varied.error());
  } else {
    return varied.error();
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> scenario_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".textproto") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

cli::Outcome<Sweep> sweep(const std::vector<std::string>& files, const std::vector<std::string>& fields, unsigned jobs) {
  auto bases = simulate_bases(files, jobs);
  if (!bases) return std::unexpected(bases.error());
  Sweep sweep{.scenarios = {}, .fields = fields, .responses = {}};
  for (const Base& base : *bases) {
    const configs::Scenario& scenario = base.result.provenance().scenario();
    sweep.scenarios.push_back({scenario.name(), scenario.gpu().name(), scenario.description()});
  }
  for (const std::string& field : fields) {
    for (const SweptScenario& scenario : sweep.scenarios) sweep.responses.push_back({field, scenario.name, {}, {}});
  }
  std::vector<Trial> trials = trials_of(*bases, sweep);
  std::vector<std::optional<cli::Failure>> failures(trials.size());
  {
    cli::ProgressBar bar("knobs", trials.size());
    cli::in_parallel(trials.size(), jobs, [&](size_t t) {
      failures[t] = carry_out((*bases)[trials[t].base], trials[t]);
      bar.step();
    });
  }
  for (size_t t = 0; t < trials.size(); ++t) {
    if (failures[t]) return std::unexpected(*failures[t]);
    Response& response = sweep.responses[trials[t].response];
    if (trials[t].run) response.runs.push_back(*trials[t].run);
    if (!trials[t].refused.empty()) response.refused = std::move(trials[t].refused);
  }
  return sweep;
}

}  // namespace warpfold::knobs
