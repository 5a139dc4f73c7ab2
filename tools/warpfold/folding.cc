#include "tools/warpfold/folding.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "configs/near_miss.h"
#include "tools/warpfold/table.h"

namespace warpfold::cli {

namespace {

// Bounded runs may miss their bound in one case of a hundred, but never by more.
constexpr double kShadowTolerance = 3;

Outcome<double> fold_error(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 0.1) return value;
  return user_error("--fold-error takes a relative error above 0 and up to 0.1, such as 0.002 for 0.2 %, not \"" + text + "\"");
}

double relative(uint64_t value, uint64_t expected) {
  const auto difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return difference == 0 ? 0 : difference / std::max(1.0, static_cast<double>(expected));
}

configs::Result without_fold(configs::Result result) {
  result.clear_fold();
  result.clear_instructions_replayed();
  result.clear_timeline();  // shows what was folded
  return result;
}

}  // namespace

void add_fold_options(Options& options, const std::string& error) {
  options.add()("fold", boost::program_options::value<std::string>()->default_value("auto")->value_name("MODE"),
                "auto: skip what recurs, bit for bit where the state does, else within --fold-error; exact: only the former; "
                "off: replay every instruction; shadow: auto, then replay everything and compare");
  options.add()("fold-error", boost::program_options::value<std::string>()->default_value(error)->value_name("ERROR"),
                "relative error that a kernel's cycles may have where the state does not recur");
}

Outcome<Folding> fold_options(const Options& options) {
  Folding folding;
  const std::string mode = options.text("fold");
  if (mode == "exact") {
    folding.options.mode = sim::FoldMode::kExact;
  } else if (mode == "off") {
    folding.options.mode = sim::FoldMode::kOff;
  } else if (mode == "shadow") {
    folding.shadow = true;
  } else if (mode != "auto") {
    return user_error("--fold: unknown mode \"" + mode + "\"" + suggestion(mode, {"auto", "exact", "off", "shadow"}));
  }
  const auto error = fold_error(options.text("fold-error"));
  if (!error) return std::unexpected(error.error());
  folding.options.error = *error;
  return folding;
}

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
    fold.set_shortcuts(fold.shortcuts() + report->memo_hits);
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

std::string fold_line(const configs::Result& result) {
  const configs::Fold& fold = result.fold();
  const double share = fold.instructions_of_classes() == 0 ? 0
                                                           : static_cast<double>(result.instructions_replayed()) /
                                                                 static_cast<double>(fold.instructions_of_classes());
  std::string line = "folding: " + fold.mode();
  if (fold.error_bound() > 0) line += ", cycles within " + fixed(100 * fold.error_bound(), 2) + " % of a full replay";
  line += "; " + fixed(100 * share, 2) + " % of the instructions of " +
          (result.whole_chip() ? "every SM" : "one SM of each class") + " replayed";
  if (fold.shadow_error() > 0) line += "; off by " + fixed(100 * fold.shadow_error(), 3) + " %";
  return line;
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
    return std::unexpected(Failure(kInternalError, "bounded folding is off by " + fixed(100 * worst, 3) + " %; it states " +
                                                       fixed(100 * folded.fold().error_bound(), 3) + " %"));
  }
  return worst;
}

}  // namespace warpfold::cli
