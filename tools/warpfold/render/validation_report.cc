#include "tools/warpfold/render/validation_report.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "configs/escape/gnuplot.h"
#include "configs/escape/markdown.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

Cell percent(double fraction) { return {100 * fraction, 1}; }

std::string signed_percent(double fraction) {
  std::string text = std::signbit(fraction) ? "" : "+";
  return text.append(fixed(100 * fraction, 1)).append(" %");
}

// Returns four significant digits: times lie between microseconds and seconds, ratios near 1.
std::string digits(double number) {
  const int before = number > 0 ? static_cast<int>(std::floor(std::log10(number))) + 1 : 1;
  return fixed(number, std::max(0, 4 - before));
}

std::string unit_of(const configs::ValidatedRow& row) {
  if (row.quantity() == "time_us") return "us";
  if (row.quantity() == "watts") return "W";
  return row.quantity() == "clock_mhz" ? "MHz" : "x";
}

std::string limiter_of(const configs::ValidatedRow& row) {
  return row.limiter() + " " + fixed(100 * row.limiter_utilization(), 0) + " %";
}

std::string rate_of(const configs::ErrorGroup& group, double rate) { return group.rate_unit().empty() ? "" : digits(rate); }

// In a validation of profiles, a row holds all launches of a kernel, and groups count launches.
bool of_profiles(const configs::Validation& validation) { return validation.launches() > 0; }
std::string counts_of(const configs::Validation& validation) { return of_profiles(validation) ? "launches" : "rows"; }

Table group_table(const configs::Validation& validation) {
  Table table(
      {"kernel", "GPU", counts_of(validation), "mean %", "median %", "p90 %", "max %", "bias %", "measured", "simulated", "rate"});
  for (const configs::ErrorGroup& group : validation.groups()) {
    const bool whole = group.kernel().empty();
    std::string name = group.family();
    if (!whole && group.kernel() != group.family()) name.append(": ").append(group.kernel());
    table.add({name, whole ? "all" : group.gpu(), uint64_t{group.rows()}, percent(group.mean()), percent(group.median()),
               percent(group.p90()), percent(group.largest()), percent(group.bias()), rate_of(group, group.measured_rate()),
               rate_of(group, group.simulated_rate()), group.rate_unit()});
  }
  return table;
}

Table row_table(const std::vector<const configs::ValidatedRow*>& rows) {
  Table table({"row", "kernel", "GPU", "shape", "measured", "simulated", "unit", "error %", "busiest"});
  for (const configs::ValidatedRow* row : rows) {
    table.add({row->id() + (row->judged() ? "" : "*"), row->kernel(), row->gpu(), row->shape(), digits(row->measured()),
               digits(row->simulated()), unit_of(*row), percent(row->error()), limiter_of(*row)});
  }
  return table;
}

// Returns the rows with the largest errors. A validation of profiles shows only its first family: long launches, if it has any.
std::vector<const configs::ValidatedRow*> worst_rows(const configs::Validation& validation, size_t most) {
  std::vector<const configs::ValidatedRow*> rows;
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.judged() && (!of_profiles(validation) || row.family() == validation.groups(0).family())) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const auto* row) { return std::abs(row->error()); });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

// Returns the reasons for unmapped rows in the order of their first row, each with its rows.
std::vector<std::pair<std::string, std::vector<std::string>>> rows_by_reason(const configs::Validation& validation) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const configs::UnmappedRow& row : validation.unmapped()) {
    auto found = std::ranges::find(reasons, row.reason(), [](const auto& reason) { return reason.first; });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {row.reason(), {}});
    found->second.push_back(row.id());
  }
  return reasons;
}

std::vector<const configs::UnreadPhrase*> unread_by_rows(const configs::Validation& validation) {
  std::vector<const configs::UnreadPhrase*> phrases;
  for (const configs::UnreadPhrase& phrase : validation.unread()) phrases.push_back(&phrase);
  std::ranges::stable_sort(phrases, std::greater{}, [](const auto* phrase) { return phrase->rows(); });
  return phrases;
}

// Returns the most frequent unread phrases; --format json has all of them.
std::string unread_lines(const configs::Validation& validation) {
  if (validation.unread_size() == 0) return {};
  constexpr int kMost = 20;
  Table table({"phrase", "rows", "why", "first row"});
  int left = kMost;
  for (const configs::UnreadPhrase* phrase : unread_by_rows(validation)) {
    if (left-- == 0) break;
    table.add({phrase->example(), uint64_t{phrase->rows()}, phrase->why(), phrase->id()});
  }
  std::string text =
      "\nNot read in dims_other and notes: " + report::counted(static_cast<uint64_t>(validation.unread_size()), "phrase") + "\n" +
      table.aligned("");
  if (validation.unread_size() > kMost)
    text += "and " + std::to_string(validation.unread_size() - kMost) + " more: --format json lists them\n";
  return text;
}

// Returns the kernels that relatives simulate, in the order of their first rows, each with how it differs and its number of rows.
struct RelativeKernel {
  std::string kernel;
  std::string differs;
  uint64_t rows = 0;
};
std::vector<RelativeKernel> relatives_of(const configs::Validation& validation) {
  std::vector<RelativeKernel> relatives;
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.relative().empty()) continue;
    const std::string kernel = row.kernel().substr(0, row.kernel().rfind(", causal"));
    auto found = std::ranges::find(relatives, std::pair(kernel, row.relative()),
                                   [](const RelativeKernel& entry) { return std::pair(entry.kernel, entry.differs); });
    if (found == relatives.end()) found = relatives.insert(relatives.end(), {kernel, row.relative()});
    ++found->rows;
  }
  return relatives;
}

std::string relative_lines(const configs::Validation& validation) {
  const std::vector<RelativeKernel> relatives = relatives_of(validation);
  if (relatives.empty()) return {};
  std::string text = "\nSimulated by a relative: another library's generator\n";
  for (const RelativeKernel& entry : relatives)
    text.append("  ")
        .append(entry.kernel)
        .append(", ")
        .append(report::counted(entry.rows, "row"))
        .append(": ")
        .append(entry.differs)
        .append("\n");
  return text;
}

std::string tables(const configs::Validation& validation) {
  std::string text = of_profiles(validation)
                         ? report::counted(validation.launches(), "launch", "es") + " of " +
                               report::counted(static_cast<uint64_t>(validation.data_size()), "profile") + " in "
                         : "";
  text += report::counted(static_cast<uint64_t>(validation.rows_size()), "row") + " compared with " +
          report::counted(validation.simulations(), "simulation") +
          "; errors are simulated over measured time, less 1: + is too slow\n\n";
  if (const std::string warnings = warning_lines(validation); !warnings.empty()) text += warnings + "\n";
  if (validation.groups_size() > 0) text += group_table(validation).aligned("");
  constexpr size_t kWorst = 10;
  if (const auto worst = worst_rows(validation, kWorst); !worst.empty())
    text.append("\nLargest errors\n").append(row_table(worst).aligned(""));
  text += relative_lines(validation);
  const auto unjudged = std::ranges::count_if(validation.rows(), [](const auto& row) { return !row.judged(); });
  if (unjudged > 0)
    text.append("\nNot judged (column judged), in no group: ").append(report::counted(unjudged, "row")).append("\n");
  text += unread_lines(validation);
  if (validation.unmapped_size() == 0) return text;
  text.append("\nNot simulated: ").append(report::counted(static_cast<uint64_t>(validation.unmapped_size()), "row")).append("\n");
  for (const auto& [reason, ids] : rows_by_reason(validation))
    text.append("  ").append(reason).append(": ").append(boost::algorithm::join(ids, " ")).append("\n");
  return text;
}

std::string csv_of(const configs::Validation& validation) {
  Table table(
      column_names("id family kernel gpu implementation shape quantity measured simulated error rate_unit measured_rate "
                   "simulated_rate limiter limiter_utilization tensor_utilization fold judged relative source file line launches "
                   "reason"));
  for (const configs::ValidatedRow& row : validation.rows()) {
    const auto rate = [&](double value) { return row.rate_unit().empty() ? Cell("") : Cell(value, 3); };
    table.add(cells(row.id(), row.family(), row.kernel(), row.gpu(), row.implementation(), row.shape(), row.quantity(),
                    Cell(row.measured(), 4), Cell(row.simulated(), 4), Cell(row.error(), 5), row.rate_unit(),
                    rate(row.measured_rate()), rate(row.simulated_rate()), row.limiter(), Cell(row.limiter_utilization(), 4),
                    Cell(row.tensor_utilization(), 4), row.fold(), row.judged() ? "yes" : "no", row.relative(), row.source(),
                    row.file(), row.line(), row.launches() > 0 ? Cell(uint64_t{row.launches()}) : Cell(""), ""));
  }
  for (const configs::UnmappedRow& row : validation.unmapped()) {
    std::vector<Cell> only(table.width(), Cell(""));
    only.front() = row.id();
    only.end()[-4] = row.file();
    only.end()[-3] = uint64_t{row.line()};
    only.back() = row.reason();
    table.add(std::move(only));
  }
  return table.csv();
}

std::string without_plus(double fraction) { return fixed(100 * fraction, 1) + " %"; }

// Returns the explanation at the top of the page.
std::string heading(const configs::Validation& validation) {
  std::string text = "# Compared with measurements\n\n";
  text += of_profiles(validation)
              ? "The kernels of these profiles and their simulations, written by `warpfold validate --profile DATA... --markdown "
                "FILE`:\n\n"
              : "Every row of these files and its simulation, written by `warpfold validate DATA.csv... --markdown FILE`:\n\n";
  for (const std::string& file : validation.data()) text.append("- ").append(escape::markdown_code(file)).append("\n");
  text.append(
      "\n*Time* is simulated over measured time, less 1: + is too slow. Of a group: mean, median, 90th percentile and largest of "
      "the\n"
      "absolute errors, and their signed mean (bias). Rows marked \\* are not judged and count for no group: their kernel is not\n"
      "known, or another row is preferred.\n\n");
  if (of_profiles(validation)) {
    text.append(
        "Compared are launches that overlap no other kernel. A row is the mean of a kernel's launches, groups count each "
        "launch:\n" +
        with_thousands(std::to_string(validation.launches())) + " in all.\n\n");
  }
  const bool power = std::ranges::any_of(validation.rows(), [](const configs::ValidatedRow& row) {
    return row.quantity() == "watts" || row.quantity() == "clock_mhz";
  });
  if (power) {
    text.append(
        "Of board power and clocks *time* is simulated over measured watts or MHz, less 1: + is too much. Rows that a constant\n"
        "is fitted to are not judged either.\n\n");
  }
  return text;
}

std::string markdown_groups(const configs::Validation& validation) {
  Table table({"kernel", "GPU", counts_of(validation), "mean", "median", "p90", "max", "bias", "measured rate", "simulated rate"});
  for (const configs::ErrorGroup& group : validation.groups()) {
    const bool whole = group.kernel().empty();
    std::string name = escape::markdown(group.kernel());
    if (whole) name = std::string("**").append(escape::markdown(group.family())).append("**");
    const auto rate = [&](double value) {
      return group.rate_unit().empty() ? "" : digits(value) + " " + escape::markdown(group.rate_unit());
    };
    table.add({name, whole ? "all" : escape::markdown(group.gpu()), std::to_string(group.rows()), without_plus(group.mean()),
               without_plus(group.median()), without_plus(group.p90()), without_plus(group.largest()), signed_percent(group.bias()),
               rate(group.measured_rate()), rate(group.simulated_rate())});
  }
  return table.markdown();
}

std::string markdown_rows(const configs::Validation& validation, const std::string& family) {
  Table table({"row", "GPU", "kernel", "shape", "measured", "simulated", "time", "rate", "simulated", "tensor pipe", "busiest"});
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.family() != family) continue;
    const std::string unit = " " + unit_of(row);
    const auto rate = [&](double value) {
      return row.rate_unit().empty() ? "" : digits(value) + " " + escape::markdown(row.rate_unit());
    };
    table.add({escape::markdown(row.id()) + (row.judged() ? "" : "\\*"), escape::markdown(row.gpu()),
               escape::markdown(row.implementation()), escape::markdown(row.shape()), digits(row.measured()) + unit,
               digits(row.simulated()) + unit, signed_percent(row.error()), rate(row.measured_rate()), rate(row.simulated_rate()),
               row.tensor_utilization() > 0 ? fixed(100 * row.tensor_utilization(), 0) + " %" : "",
               escape::markdown(limiter_of(row))});
  }
  return table.markdown();
}

}  // namespace

std::string render_validation(const configs::Validation& validation, Format format) {
  return rendered(validation, format, tables, csv_of);
}

std::string validation_markdown(const configs::Validation& validation) {
  std::string text = heading(validation).append("## Errors by kernel and GPU\n\n").append(markdown_groups(validation));
  for (const std::string& family : families_of(validation))
    text.append("\n## ").append(escape::markdown(family)).append("\n\n").append(markdown_rows(validation, family));
  if (const auto relatives = relatives_of(validation); !relatives.empty()) {
    Table table({"kernel", "rows", "how the simulated kernel differs"});
    for (const RelativeKernel& entry : relatives)
      table.add({escape::markdown(entry.kernel), std::to_string(entry.rows), escape::markdown(entry.differs)});
    text.append("\n## Simulated by a relative: another library's generator\n\n").append(table.markdown());
  }
  if (validation.unread_size() > 0) {
    Table phrases({"phrase", "rows", "why", "first row"});
    for (const configs::UnreadPhrase* phrase : unread_by_rows(validation)) {
      phrases.add({escape::markdown(phrase->example()), std::to_string(phrase->rows()), escape::markdown(phrase->why()),
                   escape::markdown(phrase->id())});
    }
    text.append("\n## Not read in dims_other and notes\n\n").append(phrases.markdown());
  }
  if (validation.unmapped_size() == 0) return text;
  Table table({"rows without a simulation", "why"});
  for (const auto& [reason, ids] : rows_by_reason(validation))
    table.add({escape::markdown(boost::algorithm::join(ids, " ")), escape::markdown(reason)});
  return text.append("\n## Not simulated\n\n").append(table.markdown());
}

std::string validation_plot(const configs::Validation& validation, const std::string& picture) {
  std::map<std::string, std::string> blocks;  // by family
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (!row.judged() || row.quantity() != "time_us") continue;
    blocks[row.family()] += digits(row.measured()) + " " + digits(row.simulated()) + "\n";
    least = std::min({least, row.measured(), row.simulated()});
    most = std::max({most, row.measured(), row.simulated()});
  }
  if (blocks.empty()) return {};
  // Both axes have the same range, with room around the points, since a single point spans no range.
  const std::string range = "[" + digits(least / 2) + ":" + digits(most * 2) + "]";
  std::string data;
  std::string plots = "x notitle lc 'grey', 1.1*x title '10 % off' dt 2 lc 'grey', x/1.1 notitle dt 2 lc 'grey'";
  size_t index = 0;
  for (const auto& [family, points] : blocks) {
    const std::string block = "$rows" + std::to_string(index++);
    data += block + " << END\n" + points + "END\n";
    plots += ", " + block + " using 1:2 with points pt " + std::to_string(index) + " title " + escape::gnuplot(family);
  }
  return "set terminal svg noenhanced size 720,640 font 'sans,13' background 'white'\nset output " + escape::gnuplot(picture) +
         "\nset encoding utf8\nset logscale xy\nset xrange " + range + "\nset yrange " + range +
         "\nset grid\nset key top left noenhanced\nset xlabel 'measured, us'\n"
         "set ylabel 'simulated, us'\n" +
         data + "plot " + plots + "\n";
}

}  // namespace warpfold::cli
