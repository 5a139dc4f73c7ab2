#include "tools/warpfold/run/run_options.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::cli {

namespace {

Outcome<double> fold_error(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 0.1) return value;
  return user_error("--fold-error takes a relative error above 0 and up to 0.1, such as 0.002 for 0.2 %, not " +
                    escape::quoted(text));
}

void add_fold_options(Options& options, const std::string& error) {
  options.add()("fold", boost::program_options::value<std::string>()->default_value("auto")->value_name("MODE"),
                "auto: fast-forward bit for bit where the state recurs, sample within --fold-error elsewhere; exact: no sampling; "
                "off: replay every instruction; shadow: auto, then a comparison with a full replay");
  options.add()("fold-error", boost::program_options::value<std::string>()->default_value(error)->value_name("ERROR"),
                "relative error that sampling may leave in a kernel's cycles");
  options.add()("self-check",
                "simulate a sample again with every instruction replayed, and compare: one skip in eight, and the smallest whole "
                "simulations, 20 million instructions of them. The result says how much; a difference is no result, exit code 1");
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
    return user_error("--fold: unknown mode " + escape::quoted(mode) + suggestion(mode, {"auto", "exact", "off", "shadow"}));
  }
  const auto error = fold_error(options.text("fold-error"));
  if (!error) return std::unexpected(error.error());
  folding.options.error = *error;
  if (options.has("self-check")) {
    if (folding.shadow || folding.options.mode == sim::FoldMode::kOff) {
      return user_error("--self-check checks folding by a sample; it takes --fold auto or exact, not " + mode);
    }
    if (options.text("sms") == "all") return user_error("--self-check checks folding by a sample; --sms all folds nothing");
    folding.self_check = kSelfCheckInstructions;
    folding.options.check_skips = true;
  }
  return folding;
}

Outcome<bool> all_sms_option(const Options& options) {
  const auto which = options.choice("sms", {"classes", "all"});
  if (!which) return std::unexpected(which.error());
  if (*which == 0) return false;
  const std::string fold = options.text("fold");
  if (fold == "auto" || fold == "off") return true;
  return user_error("--sms all replays every instruction; it takes --fold auto or off, not " + fold);
}

}  // namespace

void add_run_options(Options& options, const std::string& fold_error) {
  add_fold_options(options, fold_error);
  options.add()("sms", boost::program_options::value<std::string>()->default_value("classes")->value_name("WHICH"),
                "classes: simulate one SM of each class of SMs with the same CTAs; all: replay every instruction of every SM (with "
                "--fold auto or off). All SMs with requests share L2 and DRAM in both modes");
  options.add()(
      "reference",
      "simulate everything again by a plain loop over every SM, cycle after cycle, and compare: minutes for a whole chip. "
      "The result says by how much cycles are off");
  options.add()("jobs,j", boost::program_options::value<std::string>()->default_value("0")->value_name("N"),
                "simulations at a time; 0: one a core. Results do not depend on it");
  options.add()(
      "threads", boost::program_options::value<std::string>()->default_value("0")->value_name("N"),
      "threads that run the SMs of one simulation, where several SMs meet in L2 and DRAM; 0: one a core with --sms all, else "
      "one. Results do not depend on it");
}

Outcome<RunOptions> run_options(const Options& options) {
  const auto folding = fold_options(options);
  if (!folding) return std::unexpected(folding.error());
  const auto all_sms = all_sms_option(options);
  if (!all_sms) return std::unexpected(all_sms.error());
  constexpr uint32_t kMostJobs = 1024;
  constexpr uint32_t kMostThreads = 256;
  const auto jobs = options.number("jobs", 0, kMostJobs);
  if (!jobs) return std::unexpected(jobs.error());
  const auto threads = options.number("threads", 0, kMostThreads);
  if (!threads) return std::unexpected(threads.error());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return RunOptions{.folding = *folding,
                    .all_sms = *all_sms,
                    .reference = options.has("reference"),
                    .jobs = *jobs > 0 ? *jobs : cores,
                    .threads = *threads > 0 ? *threads
                               : *all_sms   ? cores
                                            : 1};
}

}  // namespace warpfold::cli
