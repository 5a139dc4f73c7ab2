#include "tools/warpfold/render/fold_line.h"

#include "tools/report/number_text.h"

namespace warpfold::cli {

namespace {

std::string of(uint64_t part, uint64_t whole) { return std::to_string(part) + " of " + std::to_string(whole); }

std::string line_of(const configs::SelfCheck& check) {
  const double share =
      check.instructions() == 0 ? 0 : static_cast<double>(check.instructions_checked()) / static_cast<double>(check.instructions());
  std::string line = "self-check: " + of(check.kernels_checked(), check.kernels()) + " kernels, " + report::fixed(100 * share, 2) +
                     " % of the instructions";
  if (check.skips() > 0) line += ", and " + of(check.skips_checked(), check.skips()) + " skips";
  line += " simulated again unfolded: the same";
  if (check.cycles_error() > 0) line += ", bounded cycles off by at most " + report::fixed(100 * check.cycles_error(), 3) + " %";
  return line;
}

std::string line_of(const configs::ReferenceCheck& check, double bound) {
  const std::string all =
      "reference: " + std::to_string(check.kernels()) + " kernels simulated again on every SM, cycle after cycle: ";
  if (check.cycles_error() == 0) return all + "the same";
  const std::string off = all + "cycles off by at most " + report::fixed(100 * check.cycles_error(), 4) + " %";
  if (bound == 0) return off;
  return off + ", " + (check.cycles_error() <= bound ? "within the bound" : "more than the bound");
}

}  // namespace

std::string fold_line(const configs::Result& result) {
  const configs::Fold& fold = result.fold();
  const double share = fold.instructions_of_classes() == 0 ? 0
                                                           : static_cast<double>(result.instructions_replayed()) /
                                                                 static_cast<double>(fold.instructions_of_classes());
  std::string line = "folding: " + fold.mode();
  if (fold.error_bound() > 0)
    line += ", cycles within " + report::fixed(100 * fold.error_bound(), 2) + " % of a simulation of every instruction";
  line += "; " + report::fixed(100 * share, 2) + " % of the instructions simulated" + (share < 1 ? ", the others repeat them" : "");
  if (fold.shadow_error() > 0) line += "; off by " + report::fixed(100 * fold.shadow_error(), 3) + " %";
  return line;
}

std::vector<std::string> check_lines(const configs::Result& result) {
  std::vector<std::string> lines;
  if (result.fold().has_self_check()) lines.push_back(line_of(result.fold().self_check()));
  if (result.fold().has_reference()) lines.push_back(line_of(result.fold().reference(), result.fold().error_bound()));
  return lines;
}

}  // namespace warpfold::cli
