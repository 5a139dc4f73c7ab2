#include "tools/warpfold/render/profile_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "configs/escape/visible.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {
namespace {

constexpr double kPercent = 100;

std::string percent(double share) { return fixed(kPercent * share, 1) + " %"; }
std::string signed_percent(double share) { return (share < 0 ? "" : "+") + percent(share); }
std::string us(double time) { return report::time_text(time); }

std::string head(const configs::ProfileReport& report) {
  std::string text =
      wrapped(escape::visible(report.trace()) + ": " + with_thousands(std::to_string(report.launches())) + " launches, " +
              us(report.kernel_us()) + " of kernels in " + us(report.span_us()) + ", on " +
              (report.traced_gpu().empty() ? "a GPU that the trace does not name" : escape::visible(report.traced_gpu())));
  text += wrapped("Simulated on " + report.gpu() + ": " + percent(report.simulated_share()) + " of the kernel time; " +
                  percent(report.named_share()) + " is of kernels with a known name.");
  text += wrapped("The GPU is busy for " + percent(ratio(report.busy_us(), report.span_us())) + " of the time; " +
                  with_thousands(std::to_string(report.gaps())) + " gaps take " + us(report.gaps_us()) + ", the longest " +
                  us(report.longest_gap_us()) + ". Launches overlap for " + us(report.overlap_us()) + "; copies take " +
                  us(report.copies_us()) + ".");
  for (const std::string& note : report.notes()) text += wrapped(note);
  return text;
}

// Remarks under the table, numbered: the reason if a kernel has no simulation, otherwise the assumptions of its simulation.
class Remarks {
 public:
  std::string number(const std::string& remark) {
    const auto [found, added] = numbers_.try_emplace(remark, numbers_.size() + 1);
    if (added) text_ += wrapped("  " + std::to_string(found->second) + ": " + escape::visible(remark));
    return std::to_string(found->second);
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, size_t> numbers_;
  std::string text_;
};

// Returns what a stand-in is assumed to be bound by.
std::string bound_by(const std::string& demand) {
  if (demand == "ISSUE") return "the issue of instructions";
  return demand == "LATENCY" ? "latency" : "DRAM";
}

// Returns the reason why the kernel is not simulated, and the assumption of the plan.
std::string reason_of(const configs::ProfiledKernel& kernel) {
  if (kernel.stand_in_demand().empty()) return kernel.opaque();
  return kernel.opaque() + "; the plan assumes that it is bound by " + bound_by(kernel.stand_in_demand());
}

std::string kernel_table(const configs::ProfileReport& report, uint32_t rows) {
  Table table(
      {"#", "kernel", "launches", "total us", "share", "us", "alone", "simulated", "error", "bound by", "read as", "notes"});
  Remarks remarks;
  double left_us = 0;
  for (int k = 0; k < report.kernels_size(); ++k) {
    const configs::ProfiledKernel& kernel = report.kernels(k);
    if (static_cast<uint32_t>(k) >= rows) {
      left_us += kernel.measured_us();
      continue;
    }
    std::string notes = kernel.opaque().empty() ? "" : remarks.number(reason_of(kernel));
    for (const std::string& note : kernel.notes()) notes += (notes.empty() ? "" : " ") + remarks.number(note);
    const bool simulated = kernel.simulated_us() > 0;
    const std::string family = kernel.family().empty() ? "unknown" : kernel.family();
    table.add({uint64_t{static_cast<uint64_t>(k) + 1}, escape::visible(kernel.short_name()), uint64_t{kernel.launches()},
               Cell(kernel.measured_us(), 1), percent(ratio(kernel.measured_us(), report.kernel_us())), Cell(kernel.mean_us(), 2),
               kernel.alone_us() > 0 ? Cell(kernel.alone_us(), 2) : Cell("-"),
               simulated ? Cell(kernel.simulated_us(), 2) : Cell("-"),
               simulated && kernel.error() != 0 ? signed_percent(kernel.error()) : "-", simulated ? kernel.bound_by() : "-",
               family + (kernel.reads_as().empty() ? "" : ": " + escape::visible(kernel.reads_as())), notes});
  }
  std::string text = "\nKernels by time; us is one launch, alone one that overlaps no other\n" + table.aligned("  ");
  if (left_us > 0)
    text += "  " + std::to_string(report.kernels_size() - static_cast<int>(rows)) + " more take " + us(left_us) + " (--rows)\n";
  return text + (remarks.text().empty() ? "" : "\nNotes\n" + remarks.text());
}

std::string family_table(const configs::ProfileReport& report) {
  Table table({"family", "total us", "simulated", "alone, 8 us or more", "median error", "mean error", "bias"});
  for (const configs::ProfiledFamily& family : report.families()) {
    const bool judged = family.launches() > 0;
    table.add({family.family(), Cell(family.measured_us(), 1), percent(family.simulated_share()), uint64_t{family.launches()},
               judged ? percent(family.median_error()) : "-", judged ? percent(family.mean_error()) : "-",
               judged ? signed_percent(family.bias()) : "-"});
  }
  return "\nFamilies\n" + table.aligned("  ");
}

// Returns kernels that ran both alone and beside another kernel in the trace, with the cost of running beside it, largest first.
std::string overlap_table(const configs::ProfileReport& report, uint32_t rows) {
  std::vector<std::pair<double, int>> costs;
  for (int k = 0; k < report.kernels_size(); ++k) {
    const configs::ProfiledKernel& kernel = report.kernels(k);
    if (kernel.beside() == 0 || kernel.alone_us() <= 0) continue;
    costs.emplace_back((kernel.beside_us() - kernel.alone_us()) * static_cast<double>(kernel.beside()), k);
  }
  std::ranges::stable_sort(costs, std::greater(), [](const auto& each) { return each.first; });
  if (costs.size() > rows) costs.resize(rows);
  Table table({"#", "kernel", "launches", "beside", "alone us", "beside us", "slowdown", "in all us"});
  for (const auto& [cost, k] : costs) {
    const configs::ProfiledKernel& kernel = report.kernels(k);
    table.add({uint64_t{static_cast<uint64_t>(k) + 1}, escape::visible(kernel.short_name()), uint64_t{kernel.beside()},
               escape::visible(kernel.beside_most()), Cell(kernel.alone_us(), 2), Cell(kernel.beside_us(), 2),
               Cell(ratio(kernel.beside_us(), kernel.alone_us()), 3), Cell(cost, 1)});
  }
  return table.empty() ? "" : "\nOverlaps in the trace: kernels that ran alone too, as measured\n" + table.aligned("  ");
}

// Returns the assumed limits of opaque launches, with the rows of their kernels: "bound by DRAM (#1, #3) and by latency (#4)".
std::string assumption(const configs::ProfileReport& report) {
  std::map<std::string, std::string> rows;
  for (int k = 0; k < report.kernels_size(); ++k) {
    const std::string& demand = report.kernels(k).stand_in_demand();
    if (!demand.empty()) rows[demand].append(rows[demand].empty() ? "#" : ", #").append(std::to_string(k + 1));
  }
  std::string text;
  for (const auto& [demand, numbers] : rows)
    text.append(text.empty() ? "bound by " : " and by ").append(bound_by(demand)).append(" (").append(numbers).append(")");
  return text;
}

bool has_opaque_pair(const configs::ProfileReport& report) {
  return std::ranges::any_of(report.pairs(), &configs::ProfiledPair::opaque);
}

std::string pair_table(const configs::ProfileReport& report) {
  const bool opaque = has_opaque_pair(report);
  Table table({"#", "kernel", "#", "beside", "pairs", "bound us", "one after the other", "together", "first", "gain us", "from",
               "to", "plan"});
  for (const configs::ProfiledPair& pair : report.pairs()) {
    const bool ran = pair.concurrent_us() > 0;
    std::string plan = pair.planned() ? "yes" : "no";
    if (pair.planned() && !pair.independent()) plan += ", if independent";
    if (pair.gain_us() > 0 && pair.gain_us() <= pair.error_us()) plan += ", within the error";
    const auto if_opaque = [&](double gain) { return pair.opaque() && ran ? Cell(gain, 1) : Cell("-"); };
    table.add({uint64_t{pair.one_row()}, escape::visible(pair.one()), uint64_t{pair.other_row()}, escape::visible(pair.other()),
               pair.times(), pair.bound_us() > 0 ? Cell(pair.bound_us(), 2) : Cell("-"),
               pair.sequential_us() > 0 ? Cell(pair.sequential_us(), 2) : Cell("-"),
               ran ? Cell(pair.concurrent_us(), 2) : Cell("-"), ran ? Cell(uint64_t{pair.first_row()}) : Cell("-"),
               ran ? Cell(pair.gain_us(), 1) : Cell("-"), if_opaque(pair.least_gain_us()), if_opaque(pair.most_gain_us()),
               pair.not_run().empty() ? plan : escape::visible(pair.not_run())});
  }
  if (table.empty()) return "";
  std::string text = "\nPairs on two streams; times are of one pair; first: its stream has priority\n" + table.aligned("  ");
  if (opaque) {
    text += wrapped("Opaque launches are stand-ins that take the measured time, assumed to be " + assumption(report) +
                    " (--opaque); from, to: the gain if all were bound by DRAM, by issue slots or by latency. A launch that wants "
                    "the very unit that its partner wants gains nothing.");
  }
  return text;
}

std::string plan_line(const configs::ProfileReport& report) {
  if (report.pairs().empty())
    return "\nNo two kernels were tried together: fewer than two run by themselves, are said to be independent, or are asked "
           "for.\n";
  if (std::ranges::none_of(report.pairs(), [](const auto& pair) { return pair.not_run().empty(); }))
    return "\nNo pair of the longest kernels can be simulated: the table says why.\n";
  const bool opaque = has_opaque_pair(report);
  if (report.gain_us() <= 0) {
    return "\nNo pair of the longest kernels gains more than the error by running together" +
           (opaque ? ", if opaque launches are " + assumption(report) : "") + ".\n";
  }
  const auto pairs = std::ranges::count_if(report.pairs(), &configs::ProfiledPair::planned);
  const std::string kernels = std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs") + " of kernels on two streams ";
  const std::string gain = us(report.gain_us()) + " of " + us(report.kernel_us()) + ", " +
                           percent(ratio(report.gain_us(), report.kernel_us())) + " of the kernel time";
  const std::string error = us(report.error_us());
  std::string text = "\n" + wrapped((report.gain_us() <= report.error_us()
                                         ? "Plan, within the error: " + kernels + (pairs == 1 ? "saves " : "save ") + gain +
                                               ", as simulated. The simulated times of these kernels alone are " + error +
                                               " off the measured ones, so the step may not gain at all."
                                         : "Plan: " + kernels + "would save " + gain + ", with an error of " + error + ".") +
                                    " --plan FILE writes it as a scenario for warpfold simulate.");
  if (opaque) {
    text += wrapped(us(report.opaque_gain_us()) + " of it (" + percent(ratio(report.opaque_gain_us(), report.gain_us())) +
                    ") rest on opaque launches being " + assumption(report) + ". The plan saves " + us(report.least_gain_us()) +
                    " to " + us(report.most_gain_us()) + " over what else may bind them, and " +
                    us(report.gain_us() - report.opaque_gain_us()) + " if they want what their partners want.");
  }
  return text;
}

std::string csv(const configs::ProfileReport& report) {
  constexpr int kDecimals = 6;
  Table table({"name", "family", "reads_as", "operator", "grid", "block", "registers_per_thread", "shared_memory_bytes", "launches",
               "measured_us", "mean_us", "beside", "alone_us", "simulated_us", "error", "bound_by", "opaque"});
  for (const configs::ProfiledKernel& kernel : report.kernels()) {
    table.add({kernel.name(), kernel.family(), kernel.reads_as(), kernel.operator_(), kernel.grid(), kernel.block(),
               uint64_t{kernel.registers_per_thread()}, uint64_t{kernel.shared_memory_bytes()}, uint64_t{kernel.launches()},
               Cell(kernel.measured_us(), kDecimals), Cell(kernel.mean_us(), kDecimals), uint64_t{kernel.beside()},
               Cell(kernel.alone_us(), kDecimals), Cell(kernel.simulated_us(), kDecimals), Cell(kernel.error(), kDecimals),
               kernel.bound_by(), kernel.opaque()});
  }
  return table.csv();
}

}  // namespace

std::string render_profile(const configs::ProfileReport& report, uint32_t rows, Format format) {
  if (format == Format::kJson) return to_json(report);
  if (format == Format::kCsv) return csv(report);
  return head(report) + kernel_table(report, rows) + family_table(report) + overlap_table(report, rows) + pair_table(report) +
         plan_line(report);
}

}  // namespace warpfold::cli
