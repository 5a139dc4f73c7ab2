#include <algorithm>
#include <utility>

#include "configs/load.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/gnuplot.h"
#include "tools/warpfold/render/study_plots.h"
#include "tools/warpfold/render/warning_lines.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/study_run.h"

namespace warpfold::cli {

namespace {

// Writes table, gnuplot script and picture of each figure. Returns a line for each, and a note without gnuplot.
Outcome<std::string> write_figures(const configs::Study& study, const PointRecords& records, const std::string& folder) {
  std::string lines;
  bool drawn = true;
  for (const configs::Figure& figure : study.figure()) {
    const std::string stem = folder + "/" + figure.name();
    if (auto written = write_output(stem + ".csv", figure_csv(study, figure, records)); !written)
      return std::unexpected(written.error());
    if (auto written = write_output(stem + ".gp", figure_plot(study, figure, records)); !written)
      return std::unexpected(written.error());
    const auto drew = drawn ? draw(folder, figure.name() + ".gp") : false;
    if (!drew) return std::unexpected(drew.error());
    drawn = *drew;
    lines += stem + (drawn ? ".svg" : ".csv") + "  " + figure.title() + "\n";
  }
  if (!drawn) lines += "gnuplot is not installed, so there are tables and gnuplot scripts, but no pictures.\n";
  return lines;
}

}  // namespace

Outcome<void> study_command(const Invocation& invocation) {
  Options options("warpfold study STUDY [options]",
                  "Simulates a scenario over a grid of values under several policies and writes a table (CSV) and a picture\n"
                  "(SVG, drawn by gnuplot) for each of the study's figures. Points that are finished stay: an interrupted study\n"
                  "goes on where it was. STUDY is a file, or the name of one that comes with the program.",
                  "  warpfold study dropout-overlap --output dropout\n"
                  "  warpfold study study.textproto --gpu h200_sxm --output h200\n");
  options.positional("STUDY", 1, 1);
  options.add_settings();
  add_run_options(options, "0.01");  // enough for a map, at half the time
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("FOLDER"),
                "where tables, pictures and finished points go; default: the study's name");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (options.help_wanted()) return write_output("", options.help());

  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  configs::Places places;
  const auto file = find_of_kind(options.arguments().front(), FileKind::kStudy, "study");
  if (!file) return std::unexpected(file.error());
  const auto study = configs::load_study(*file, &places);
  if (!study) return std::unexpected(Failure(study.error()));
  const std::string folder = options.has("output") ? options.text("output") : study->name();
  if (folder.empty()) return user_error("--output: the folder's name is empty");
  for (const std::string& setting : options.settings()) {
    const std::string name = setting.substr(0, setting.find('='));
    const bool varied = std::ranges::find(study->axis(), name, &configs::Axis::name) != study->axis().end();
    if (varied) return user_error("--set " + setting + ": the study varies " + name + " itself");
  }
  const auto records = run_study({.study = *study,
                                  .places = std::move(places),
                                  .settings = options.settings(),
                                  .folder = folder,
                                  .command_line = invocation.command_line,
                                  .how = *how});
  if (!records) return std::unexpected(records.error());
  const auto lines = write_figures(*study, *records, folder);
  if (!lines) return std::unexpected(lines.error());
  return write_output("", *lines + warning_lines(*study, *records));
}

}  // namespace warpfold::cli
