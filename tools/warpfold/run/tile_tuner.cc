#include "tools/warpfold/run/tile_tuner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/gemm_library.h"
#include "sim/analytic/limiters.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/run/log.h"
#include "workloads/ampere_gemm/candidates.h"
#include "workloads/blackwell_gemm/candidates.h"
#include "workloads/hopper_gemm/candidates.h"
#include "workloads/policies/plan.h"
#include "workloads/workloads.h"

namespace warpfold::cli {
namespace {

// Relative error for comparing candidates. The choice is final once no candidate's lower bound lies further below the fastest time.
constexpr double kTolerance = 0.01;

// Returns the fields of a GEMM without its shape, which the scenario has.
template <typename Gemm>
std::string fields_of(Gemm gemm) {
  gemm.clear_m();
  gemm.clear_n();
  gemm.clear_k();
  std::string text = gemm.ShortDebugString();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Calls `visit` with the kernel's GEMM, of any generator. A kernel without a GEMM passes an empty hopper_gemm.
template <typename Visit>
auto of_gemm(const configs::Kernel& kernel, const Visit& visit) {
  if (kernel.has_blackwell_gemm()) return visit(kernel.blackwell_gemm());
  return kernel.has_ampere_gemm() ? visit(kernel.ampere_gemm()) : visit(kernel.hopper_gemm());
}

std::string fields_of(const configs::Kernel& kernel) {
  return of_gemm(kernel, [](const auto& gemm) { return fields_of(gemm); });
}

bool is_automatic(const configs::Kernel& kernel) {
  return of_gemm(kernel, [](const auto& gemm) { return gemm.tile() == configs::AUTO; });
}
std::string generator_of(const configs::Kernel& kernel) {
  return kernel.has_blackwell_gemm() ? "blackwell_gemm" : kernel.has_ampere_gemm() ? "ampere_gemm" : "hopper_gemm";
}
const std::string& library_of(const configs::Kernel& kernel) {
  return *of_gemm(kernel, [](const auto& gemm) { return &gemm.library(); });
}

// Copies only the GEMM of `from`.
void copy_gemm(const configs::Kernel& from, configs::Kernel& to) {
  if (from.has_blackwell_gemm()) *to.mutable_blackwell_gemm() = from.blackwell_gemm();
  if (from.has_ampere_gemm()) *to.mutable_ampere_gemm() = from.ampere_gemm();
  if (from.has_hopper_gemm()) *to.mutable_hopper_gemm() = from.hopper_gemm();
}

// Returns `kernel` as each of the GEMMs that its library offers.
Expected<std::vector<configs::Kernel>> offered_by(const configs::GemmLibrary& library, const configs::Kernel& kernel,
                                                  const configs::Gpu& gpu) {
  std::vector<configs::Kernel> all;
  const auto add = [&](const auto& gemms, auto mutable_gemm) -> Expected<void> {
    if (!gemms) return std::unexpected(gemms.error());
    for (const auto& gemm : *gemms) *(all.emplace_back().*mutable_gemm)() = gemm;
    return {};
  };
  const auto added =
      kernel.has_blackwell_gemm()
          ? add(workloads::blackwell_candidates(kernel.blackwell_gemm(), library, gpu), &configs::Kernel::mutable_blackwell_gemm)
      : kernel.has_ampere_gemm()
          ? add(workloads::ampere_candidates(kernel.ampere_gemm(), library, gpu), &configs::Kernel::mutable_ampere_gemm)
          : add(workloads::gemm_candidates(kernel.hopper_gemm(), library, gpu), &configs::Kernel::mutable_hopper_gemm);
  if (!added) return std::unexpected(added.error());
  for (configs::Kernel& each : all) each.set_name(kernel.name());
  return all;
}

// A candidate with its programs and the lower bound of its time.
struct Candidate {
  configs::Kernel gemm;
  std::vector<traces::Kernel> kernels;
  double bound = 0;
  std::optional<uint64_t> cycles{};

  // Returns the simulated cycles, or the lower bound if the candidate was not simulated.
  double at_least() const { return cycles ? static_cast<double>(*cycles) : bound; }
};

Expected<Candidate> candidate_of(const configs::Kernel& gemm, const configs::Gpu& gpu) {
  Candidate candidate{gemm, {}};
  for (const configs::Kernel& kernel : kernels_of_gemm(gemm)) {
    auto made = workloads::make_kernel(kernel, gpu, "");
    if (!made) return std::unexpected(made.error());
    const auto limiters = sim::limiters_of(gpu, *made);
    if (!limiters) return std::unexpected(limiters.error());
    candidate.bound += limiters->lower_bound();
    candidate.kernels.push_back(std::move(*made));
  }
  return candidate;
}

Expected<uint64_t> simulated_cycles(const Candidate& candidate, const configs::Gpu& gpu) {
  std::vector<sim::Launch> launches(candidate.kernels.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    launches[i].kernel = &candidate.kernels[i];
    if (i > 0) launches[i].after = {static_cast<int>(i) - 1};
  }
  sim::FoldOptions fold;
  fold.error = kTolerance;
  const auto outcome = sim::simulate(gpu, launches, {.serialise = true, .fold = fold});
  if (!outcome) return std::unexpected(outcome.error());
  if (outcome->deadlocked)
    return fail("kernel " + escape::unquoted(candidate.gemm.name()) +
                ": a candidate of tile AUTO does not end: " + fields_of(candidate.gemm));
  return outcome->total_cycles;
}

void log_choice(const std::string& kernel, const configs::TileChoice& said) {
  const auto simulated = std::ranges::count_if(said.candidates(), [](const auto& each) { return each.cycles() > 0; });
  log_info([&] {
    return kernel + ": " + said.library() + " offers " + std::to_string(said.candidates_size()) + " GEMMs; " +
           std::to_string(simulated) + " simulated, in the order of their lower bounds; taken: " + said.taken();
  });
  for (const configs::TileCandidate& each : said.candidates()) {
    log_debug([&] {
      return kernel + ": " + each.kernel() + ": at least " + report::rounded(each.lower_bound_cycles()) + " cycles" +
             (each.cycles() > 0 ? ", simulated " + report::with_thousands(std::to_string(each.cycles())) : "");
    });
  }
}

}  // namespace

std::vector<configs::Kernel> kernels_of_gemm(const configs::Kernel& kernel) {
  std::vector<configs::Kernel> kernels{kernel};
  const auto add = [&](const auto& gemm) {
    if (gemm.split_k() < 2) return;
    configs::Kernel& adds = kernels.emplace_back();
    adds.set_name(kernel.name() + "_reduction");
    if (kernel.has_stream()) adds.set_stream(kernel.stream());
    if (kernel.has_priority()) adds.set_priority(kernel.priority());
    adds.add_after(kernel.name());
    adds.mutable_gemm_reduction()->set_m(gemm.m());
    adds.mutable_gemm_reduction()->set_n(gemm.n());
    adds.mutable_gemm_reduction()->set_parts(gemm.split_k());
    const configs::ElementType own = gemm.type() == configs::FP16 ? configs::FP16 : configs::BF16;
    adds.mutable_gemm_reduction()->set_output_type(gemm.has_output_type() ? gemm.output_type() : own);
  };
  if (kernel.has_blackwell_gemm()) add(kernel.blackwell_gemm());
  if (kernel.has_hopper_gemm() && kernel.hopper_gemm().reduction() == configs::PARALLEL) add(kernel.hopper_gemm());
  return kernels;
}

Expected<TileTuner::Choice> TileTuner::choose(const configs::Kernel& kernel, const configs::Gpu& gpu) {
  const configs::GemmLibrary* library = configs::find_gemm_library(library_of(kernel));
  if (library == nullptr) return fail(generator_of(kernel) + ": no library called " + escape::quoted(library_of(kernel)));
  const auto offered = offered_by(*library, kernel, gpu);
  if (!offered) return std::unexpected(offered.error());
  std::vector<Candidate> candidates;
  for (const configs::Kernel& each : *offered) {
    auto candidate = candidate_of(each, gpu);
    if (!candidate) return std::unexpected(candidate.error());
    candidates.push_back(std::move(*candidate));
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::bound);
  double fastest = std::numeric_limits<double>::max();
  for (Candidate& candidate : candidates) {
    if (candidate.bound * (1 + kTolerance) >= fastest || candidates.size() == 1) break;
    const auto cycles = simulated_cycles(candidate, gpu);
    if (!cycles) return std::unexpected(cycles.error());
    candidate.cycles = *cycles;
    fastest = std::min(fastest, static_cast<double>(*cycles));
  }
  std::ranges::stable_sort(candidates, {}, [](const Candidate& each) { return std::pair(!each.cycles, each.at_least()); });
  Choice choice{candidates.front().gemm, {}};
  choice.said.set_library(library->name());
  choice.said.set_rule(configs::GemmSelection_Name(library->selection()));
  choice.said.set_taken(fields_of(choice.taken));
  for (const Candidate& candidate : candidates) {
    configs::TileCandidate& said = *choice.said.add_candidates();
    said.set_kernel(fields_of(candidate.gemm));
    said.set_cycles(candidate.cycles.value_or(0));
    said.set_lower_bound_cycles(candidate.bound);
    said.set_slower(candidate.at_least() / candidates.front().at_least() - 1);
  }
  log_choice(kernel.name(), choice.said);
  return choice;
}

Expected<configs::TileChoices> TileTuner::tune(configs::Scenario& scenario) {
  configs::TileChoices choices;
  configs::Scenario tuned = scenario;
  tuned.clear_kernel();
  for (int i = 0; i < scenario.kernel_size(); ++i) {
    configs::Kernel kernel = scenario.kernel(i);
    if (!is_automatic(kernel)) {
      *tuned.add_kernel() = std::move(kernel);
      continue;
    }
    const std::lock_guard lock(guard_);
    configs::Kernel unnamed;
    copy_gemm(kernel, unnamed);
    const std::pair key(unnamed.SerializeAsString(), scenario.gpu().SerializeAsString());
    auto known = known_.find(key);
    if (known == known_.end()) {
      auto choice = choose(kernel, scenario.gpu());
      if (!choice) {
        Diagnostic problem = choice.error();
        problem.path = policies::path_of_kernel(i) + "." + generator_of(kernel);
        return std::unexpected(std::move(problem));
      }
      known = known_.emplace(key, std::move(*choice)).first;
    }
    copy_gemm(known->second.taken, kernel);
    for (configs::Kernel& each : kernels_of_gemm(kernel)) *tuned.add_kernel() = std::move(each);
    configs::TileChoice& choice = *choices.add_choice();
    choice = known->second.said;
    choice.set_kernel(kernel.name());
  }
  // A kernel that waits for a split GEMM must wait for the kernel that adds its parts.
  for (configs::Kernel& kernel : *tuned.mutable_kernel()) {
    for (std::string& name : *kernel.mutable_after()) {
      const std::string adds = name + "_reduction";
      const bool added = kernel.name() != adds &&
                         std::ranges::find(tuned.kernel(), adds, &configs::Kernel::name) != tuned.kernel().end() &&
                         std::ranges::find(scenario.kernel(), adds, &configs::Kernel::name) == scenario.kernel().end();
      if (added) name = adds;
    }
  }
  if (choices.choice_size() > 0) scenario = std::move(tuned);
  return choices;
}

}  // namespace warpfold::cli
