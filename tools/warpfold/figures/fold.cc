#include "tools/warpfold/figures/fold.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>

#include "tools/report/number_text.h"

namespace warpfold::cli {

namespace {

// A bounded run may exceed its bound in one case of a hundred, but never by more than this factor.
constexpr double kShadowTolerance = 3;

double relative(uint64_t value, uint64_t expected) {
  const auto difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return difference == 0 ? 0 : difference / std::max(1.0, static_cast<double>(expected));
}

configs::Result without_fold(configs::Result result) {
  result.clear_fold();
  result.clear_instructions_replayed();
  result.clear_timeline();  // differs, because it shows the folded stretches
  return result;
}

}  // namespace

void fill_fold(const sim::Outcome& run, const std::vector<const sim::Outcome*>& alone, configs::Result& result) {
  std::vector<std::shared_ptr<const sim::FoldReport>> reports;
  const auto add = [&reports](const sim::Outcome& outcome) {
    for (const auto& report : outcome.folds) {
      if (std::ranges::find(reports, report) == reports.end()) reports.push_back(report);
    }
  };
  add(run);
  for (const sim::Outcome* each : alone) add(*each);
  configs::Fold& fold = *result.mutable_fold();
  sim::Folded mode = sim::Folded::kOff;
  uint64_t replayed = 0;
  for (const auto& report : reports) {
    mode = std::max(mode, report->mode);
    replayed += report->instructions_replayed;
    fold.set_error_bound(std::max(fold.error_bound(), report->error_bound));
    fold.set_instructions_of_classes(fold.instructions_of_classes() + report->instructions_of_classes);
  }
  fold.set_mode(std::string(sim::folded_name(mode)));
  result.set_instructions_replayed(replayed);
  for (const sim::FoldedPeriod& period : run.fold.periods) {
    configs::FoldedPeriod& entry = *fold.add_periods();
    entry.set_sm_class(period.sm_class);
    entry.set_cycles(period.cycles);
    entry.set_instructions(period.instructions);
    entry.set_repeats(period.repeats);
    entry.set_exact(period.exact);
  }
}

Outcome<double> compare_with_replay(const configs::Result& folded, const configs::Result& replayed) {
  double worst = 0;
  for (int k = 0; k < folded.kernels_size(); ++k) {
    worst = std::max(worst, relative(folded.kernels(k).cycles(), replayed.kernels(k).cycles()));
  }
  const bool exact = folded.fold().error_bound() == 0;
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  if (exact && !differencer.Compare(without_fold(replayed), without_fold(folded))) {
    return std::unexpected(Failure(kInternalError, "exact folding differs from the full replay: " + difference));
  }
  if (!exact && worst > kShadowTolerance * folded.fold().error_bound()) {
    return std::unexpected(Failure(kInternalError, "bounded folding is off by " + report::fixed(100 * worst, 3) +
                                                       " %; its bound is " + report::fixed(100 * folded.fold().error_bound(), 3) +
                                                       " %"));
  }
  return worst;
}

}  // namespace warpfold::cli
