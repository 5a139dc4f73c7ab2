#include "tools/warpfold/render/summary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/report/findings.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/render/fold_line.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr size_t kShownKernels = 6;
constexpr size_t kShownFindings = 5;
constexpr int kShownMovers = 16;
constexpr double kPercent = 100;

// Returns the longest wait of a kernel's warps, "gmma 29 %": the largest state in which they did not issue.
std::string longest_wait(const configs::KernelResult& kernel) {
  const configs::StateCycles* longest = nullptr;
  for (const configs::StateCycles& state : kernel.states()) {
    if (state.state() == "selected") continue;
    if (longest == nullptr || state.warp_cycles() > longest->warp_cycles()) longest = &state;
  }
  if (longest == nullptr) return "-";
  return longest->state() + " " + fixed(percent(longest->warp_cycles(), kernel.resident_warp_cycles()), 1) + " %";
}

double lost_to_others(const configs::KernelResult& kernel, const std::vector<report::ContentionShare>& contention_shares) {
  uint64_t lost = 0;
  uint64_t together = 0;
  for (const report::ContentionShare& contention : contention_shares) {
    if (contention.victim != kernel.name()) continue;
    lost += contention.warp_cycles;
    together += report::warp_cycles_with(kernel, contention.culprit);
  }
  return percent(lost, together);
}

std::string kernel_table(const configs::Result& result) {
  Table table({"kernel", "time us", "slowdown", "bound by, alone", "waits most for", "lost to others %", "warps/SM"});
  std::vector<const configs::KernelResult*> kernels;
  for (const configs::KernelResult& kernel : result.kernels()) kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::ranges::greater(), [](const auto* kernel) { return kernel->cycles(); });
  const size_t shown = std::min(kernels.size(), kShownKernels);
  const std::vector<report::ContentionShare> contention_shares = report::contention_shares(result);
  for (size_t k = 0; k < shown; ++k) {
    const configs::KernelResult& kernel = *kernels[k];
    table.add({kernel.name(), Cell(kernel.time_us(), 2), kernel.slowdown_vs_solo() > 0 ? Cell(kernel.slowdown_vs_solo(), 3) : "-",
               kernel.bound_by(), longest_wait(kernel), Cell(lost_to_others(kernel, contention_shares), 1),
               Cell(kernel.occupancy().average_warps(), 1)});
  }
  std::string text = table.aligned("  ");
  if (shown < kernels.size()) text += "  and " + std::to_string(kernels.size() - shown) + " shorter kernels\n";
  return text;
}

// Returns the run's most used resources in one line.
std::string busiest_line(const configs::Result& result) {
  constexpr size_t kShown = 4;
  std::vector<const configs::Resource*> resources;
  for (const configs::Resource& resource : result.resources()) resources.push_back(&resource);
  std::ranges::stable_sort(resources, std::ranges::greater(), [](const auto* resource) { return resource->utilization(); });
  std::string line = "Busiest over the run:";
  for (size_t r = 0; r < std::min(resources.size(), kShown); ++r) {
    line += (r == 0 ? " " : ", ") + resources[r]->name() + " " + report::percent_text(resources[r]->utilization());
  }
  return line + "\n";
}

// Returns "+12.3 %", or names the only run that has the figure.
Cell relative_cell(const configs::Mover& mover) {
  if (!mover.has_relative()) return {"only in B"};
  if (mover.b() == 0 && mover.field_b().empty()) return {"only in A"};
  const std::string sign(mover.relative() >= 0 ? 1 : 0, '+');
  return {sign + fixed(kPercent * mover.relative(), 1)};
}

}  // namespace

std::string wrapped(const std::string& sentence) {
  constexpr size_t kColumns = 100;
  std::string text;
  std::string line;
  for (size_t at = 0; at < sentence.size();) {
    size_t end = std::min(sentence.find(' ', at), sentence.size());
    if (sentence.compare(end, 2, " %") == 0) end = std::min(sentence.find(' ', end + 1), sentence.size());
    const std::string word = sentence.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      text += std::exchange(line, " ") + "\n";
    }
    line.append(line.empty() ? "" : " ").append(word);
    at = end + 1;
  }
  return text + line + "\n";
}

std::string summary_text(const configs::Run& run) {
  const configs::Result& result = run.result();
  std::string text;
  for (const configs::Statement& finding : report::findings(result, kShownFindings)) text += wrapped(finding.text());
  if (result.has_model()) return text;
  text += "\n" + kernel_table(result) + "\n" + busiest_line(result) + wrapped(fold_line(result));
  for (const std::string& line : check_lines(result)) text += wrapped(line);
  return text;
}

std::string findings_text(const configs::Result& result) {
  std::string text;
  const std::vector<configs::Statement> all = report::findings(result, kShownFindings);
  for (const configs::Statement& each : all) text += wrapped(each.text());
  return text;
}

std::string difference_text(const configs::Difference& difference) {
  std::string text = "A: " + difference.a() + "\nB: " + difference.b() + "\n\n";
  if (difference.mover().empty()) return text + "All figures are equal.\n";
  Table table({"what", "unit", "A", "B", "change", "relative %"});
  for (int m = 0; m < std::min(difference.mover_size(), kShownMovers); ++m) {
    const configs::Mover& mover = difference.mover(m);
    const bool whole = mover.unit() == "warp-cycles";
    const auto cell = [whole](double value) { return Cell(value, whole ? 0 : 2); };
    table.add({mover.what(), mover.unit(), cell(mover.a()), cell(mover.b()), cell(mover.change()), relative_cell(mover)});
  }
  text += table.aligned("");
  const int more = difference.mover_size() - kShownMovers;
  if (more > 0) text += "and " + std::to_string(more) + " smaller changes; --format csv or json has all of them\n";
  return text;
}

}  // namespace warpfold::cli
