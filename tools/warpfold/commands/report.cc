#include <algorithm>

#include "configs/escape/quoted.h"
#include "tools/report/ranking.h"
#include "tools/report/saved_result.h"
#include "tools/report/verdict.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/html.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/model_report.h"
#include "tools/warpfold/render/perfetto.h"
#include "tools/warpfold/render/result_report.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

namespace {

// Returns a row for each mover.
std::string difference_csv(const configs::Difference& difference) {
  constexpr int kDecimals = 6;
  Table table({"group", "what", "unit", "a", "b", "change", "relative", "share_of_total", "field_a", "field_b"});
  for (const configs::Mover& mover : difference.mover()) {
    table.add({mover.group(), mover.what(), mover.unit(), Cell(mover.a(), kDecimals), Cell(mover.b(), kDecimals),
               Cell(mover.change(), kDecimals), mover.has_relative() ? Cell(mover.relative(), kDecimals) : Cell(""),
               Cell(mover.share_of_total(), kDecimals), mover.field_a(), mover.field_b()});
  }
  return table.csv();
}

bool of_several_files(const configs::Report& report) {
  return std::ranges::any_of(report.run(), [&](const configs::Run& run) { return run.file() != report.run(0).file(); });
}

// Rebuilds the comparison that a report was made from. A comparison saved by an earlier version may lack ties.
configs::Comparison comparison_of(const configs::Report& report) {
  configs::Comparison comparison;
  for (const configs::Run& run : report.run()) *comparison.add_results() = run.result();
  *comparison.mutable_skipped() = report.skipped();
  *comparison.mutable_taken() = report.taken();
  if (report.run_size() > 1 && !of_several_files(report)) report::rank_policies(comparison);
  comparison.set_verdict(report::verdict_text(comparison));
  return comparison;
}

// Returns the table of results of several files, with labels and ranks.
std::string runs_text(const configs::Report& report, configs::Comparison all) {
  std::vector<std::string> labels;
  std::vector<report::Contestant> runs;
  for (int r = 0; r < report.run_size(); ++r) {
    labels.push_back(report.run(r).label());
    runs.push_back({report.run(r).label(), "", &all.results(r)});
  }
  report::rank(all, labels);
  all.set_verdict(report::verdict(runs).text());
  return comparison_of_runs(all, labels);
}

// Returns whether all results simulate the same kernels, so that a table has one line for each.
bool comparable(const configs::Comparison& comparison) {
  const configs::Result& first = comparison.results(0);
  return std::ranges::all_of(comparison.results(), [&first](const configs::Result& result) {
    return !result.has_model() &&
           std::ranges::equal(result.alone(), first.alone(), {}, &configs::Alone::name, &configs::Alone::name);
  });
}

std::string summaries(const configs::Report& report) {
  std::string text;
  for (const configs::Run& run : report.run()) {
    if (report.run_size() > 1) text += (text.empty() ? "" : "\n") + run.label() + "\n";
    text += summary_text(run);
  }
  return text;
}

// Renders one run in full, and two runs of the same estimator as their difference. More runs get a line each, or a full report each
// if they are not comparable.
std::string render_report(const configs::Report& report, Format format) {
  const configs::Result& first = report.run(0).result();
  if (report.has_difference()) return rendered(report.difference(), format, difference_text, difference_csv);
  const configs::Comparison all = comparison_of(report);
  if (format == Format::kTable) {
    if (all.results_size() == 1 || !comparable(all)) return summaries(report);
    return of_several_files(report) ? runs_text(report, all) : render_comparison(all, format);
  }
  if (report.run_size() > 1) return render_comparison(all, format);
  return first.has_model() ? render_model(first, format) : render_result(first, format);
}

}  // namespace

Outcome<void> report_command(const Invocation& invocation) {
  Options options(
      "warpfold report RESULT.json... [options]",
      "Shows results that simulate, compare or model saved as JSON. One result is shown as text, two as their differences with\n"
      "the largest first, more as one line each. --html writes a page with charts of all results; a result of model and one of\n"
      "simulate appear side by side.",
      "  warpfold simulate scenario.textproto --output result.json && warpfold report result.json\n"
      "  warpfold report result.json --html result.html\n"
      "  warpfold report before.json after.json\n"
      "  warpfold report before.json after.json --format csv --output movers.csv\n");
  options.positional("RESULT.json", 1, -1);
  options.add_html();
  options.add_perfetto();
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;

  const Destination& destination = options.destination();
  for (const std::string& file : options.arguments()) {
    if (const auto result = find_of_kind(file, FileKind::kResult, "report"); !result) return std::unexpected(result.error());
  }
  const auto report = report::read_results(options.arguments());
  if (!report) return std::unexpected(Failure(report.error()));
  if (options.has("html")) {
    if (auto written = write_html(options.text("html"), *report); !written) return written;
  }
  if (options.has("perfetto")) {
    if (report->run_size() > 1) return user_error("--perfetto takes one result");
    if (auto written = write_perfetto(options.text("perfetto"), report->run(0).result()); !written) {
      if (written.error().exit_code != kUserError) return written;
      return user_error(escape::path(report->run(0).file()) + ": " + written.error().text);
    }
  }
  const bool wrote = options.has("html") || options.has("perfetto");
  if (wrote && !options.has("output") && !options.has("format")) return {};
  return write_output(destination.path, render_report(*report, destination.format));
}

}  // namespace warpfold::cli
