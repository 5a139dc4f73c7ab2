#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/study_of_scenario.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/front_plot.h"
#include "tools/warpfold/render/gnuplot.h"
#include "tools/warpfold/render/study_plots.h"
#include "tools/warpfold/render/study_table.h"
#include "tools/warpfold/render/warning_lines.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/study_on_slurm.h"
#include "tools/warpfold/run/study_run.h"

namespace warpfold::cli {

namespace {

// The files of a study's figures, fronts and searches.
class StudyFiles {
 public:
  StudyFiles(const configs::Study& study, const PointRecords& records, const std::vector<FrontRuns>& fronts, std::string folder)
      : study_(study), records_(records), fronts_(fronts), folder_(std::move(folder)) {}

  // Returns a line for each file, and a note if gnuplot is missing.
  Outcome<std::string> write() {
    for (const configs::Figure& figure : study_.figure()) {
      const auto written =
          write_picture(figure.name(), figure.title(), figure_csv(study_, figure, records_), figure_plot(study_, figure, records_));
      if (!written) return std::unexpected(written.error());
    }
    for (int f = 0; f < study_.front_size(); ++f) {
      const configs::Front& front = study_.front(f);
      const FrontRuns& runs = fronts_[static_cast<size_t>(f)];
      const auto written = write_picture(front.name(), front.title(), front_table(study_, runs).csv(), front_plot(front, runs));
      if (!written) return std::unexpected(written.error());
    }
    for (const configs::Least& least : study_.least()) {
      const auto table = least_table(study_, least, records_);
      if (!table) return std::unexpected(Failure(table.error()));
      if (auto written = write_table(least.name(), table->csv()); !written) return std::unexpected(written.error());
      lines_ += folder_ + "/" + least.name() + ".csv  " + least.title() + "\n";
    }
    if (!drawn_) lines_ += "gnuplot is not installed: the study has tables and gnuplot scripts, but no pictures.\n";
    return lines_;
  }

 private:
  Outcome<void> write_table(const std::string& name, const std::string& table) const {
    return write_output(folder_ + "/" + name + ".csv", table);
  }
  Outcome<void> write_picture(const std::string& name, const std::string& title, const std::string& table,
                              const std::string& plot) {
    if (auto written = write_table(name, table); !written) return written;
    if (auto written = write_output(folder_ + "/" + name + ".gp", plot); !written) return written;
    const auto drew = drawn_ ? draw(folder_, plot, folder_ + "/" + name + ".svg") : false;
    if (!drew) return std::unexpected(drew.error());
    drawn_ = *drew;
    lines_ += folder_ + "/" + name + (drawn_ ? ".svg  " : ".csv  ") + title + "\n";
    return {};
  }

  const configs::Study& study_;
  const PointRecords& records_;
  const std::vector<FrontRuns>& fronts_;
  std::string folder_;
  std::string lines_;
  bool drawn_ = true;
};

Outcome<std::vector<FrontRuns>> find_fronts(const configs::Study& study, const PointRecords& records) {
  std::vector<FrontRuns> fronts;
  for (const configs::Front& front : study.front()) {
    auto runs = front_of(study, front, records);
    const std::string name = "front " + escape::unquoted(front.name()) + ": ";
    if (!runs) return user_error(name + runs.error().message);
    if (runs->all.empty()) return user_error(name + "no run has all of its measures; energy_j needs gpu.clock: POWER");
    fronts.push_back(std::move(*runs));
  }
  return fronts;
}

// Returns every point, then each search's least values as a table.
Outcome<std::string> point_texts(const configs::Study& study, const PointRecords& records) {
  std::string text = study_table(study, records).aligned("");
  for (const configs::Least& least : study.least()) {
    const auto table = least_table(study, least, records);
    if (!table) return std::unexpected(Failure(table.error()));
    text += table->section("Least " + escape::unquoted(least.axis()) + " such that " + escape::unquoted(least.such_that()));
  }
  return text;
}

// Returns the runs of each front as a table.
std::string front_texts(const configs::Study& study, const std::vector<FrontRuns>& fronts) {
  std::string text;
  for (size_t f = 0; f < fronts.size(); ++f) {
    const configs::Front& front = study.front(static_cast<int>(f));
    text += "\nPareto front " + escape::unquoted(front.name()) + ": " + std::to_string(fronts[f].best.size()) + " of " +
            std::to_string(fronts[f].all.size()) + " runs\n" + front_table(study, fronts[f]).aligned("  ");
  }
  return text;
}

Outcome<configs::Study> find_study(const Options& options, configs::Places& places) {
  const std::string& named = options.arguments().front();
  if (!options.has("axis")) {
    for (const char* name : {"where", "policies"}) {
      if (options.has(name)) return user_error(std::string("--") + name + " goes with --axis; a study's file has its own");
    }
    const auto file = find_of_kind(named, FileKind::kStudy, "study");
    if (!file) return std::unexpected(file.error());
    auto study = configs::load_study(*file, &places);
    if (!study) return std::unexpected(Failure(study.error()));
    return std::move(*study);
  }
  const auto policies =
      options.has("policies") ? policies_in(options.text("policies"), false) : Outcome<std::vector<configs::PolicyKind>>{};
  if (!policies) return std::unexpected(policies.error());
  auto study = configs::study_of_scenario(named, options.texts("axis"), options.texts("where"), *policies);
  if (!study) return std::unexpected(Failure(study.error()));
  return std::move(*study);
}

Outcome<void> check_format(const Options& options) {
  if (!options.has("format")) return {};
  const std::string format = options.text("format");
  if (format == "csv" || format == "json") return {};
  return user_error("--format: a study is written as csv or json, not as " + escape::quoted(format) +
                    suggestion(format, {"csv", "json"}));
}

void add_slurm_options(Options& options) {
  namespace po = boost::program_options;
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add()("slurm",
                "submit the missing points to Slurm as a job array instead of simulating them here; a study with least values or "
                "sampling by the fastest policy has several rounds, each an array");
  options.add()("wait", "with --slurm: wait for all points, resubmit missing ones, then draw");
  options.add()("collect", "draw a study from its finished points, without simulations");
  options.add()("partition", text("NAME"), "with --slurm: the partition; default: Slurm's");
  options.add()("array-size", text("N"),
                "with --slurm: largest number of tasks; default: 16. A task has --jobs cores (default here: 1)");
  options.add()("time", text("LIMIT"), "with --slurm: time limit of a task, in sbatch's form");
  options.add()("sbatch", text("OPTIONS"), "with --slurm: further options of sbatch, separated by spaces: '--account=a --qos=low'");
  options.add()("worker", text("PLAN"), "simulate points of a plan that --slurm wrote; the command of its tasks");
}

// Returns the words of the command line that a task of the array gets too. An option's value is the next word, or follows a = in
// the same word.
std::vector<std::string> task_arguments(const std::vector<std::string>& arguments) {
  constexpr std::array kFlags{"--slurm", "--wait", "--collect"};
  constexpr std::array kWithValue{"--partition", "--array-size", "--time", "--sbatch", "--jobs", "-j"};
  std::vector<std::string> kept{"study"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (std::ranges::find(kFlags, word) != kFlags.end()) continue;
    const bool value_behind = std::ranges::find(kWithValue, word) != kWithValue.end();
    const bool dropped = value_behind || word.starts_with("-j") ||
                         std::ranges::any_of(kWithValue, [&](const std::string& option) { return word.starts_with(option + "="); });
    if (value_behind) ++i;
    if (!dropped) kept.push_back(word);
  }
  return kept;
}

Outcome<unsigned> number_of(const Options& options, const std::string& name, unsigned fallback) {
  if (!options.has(name)) return fallback;
  const std::string text = options.text(name);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  return user_error("--" + name + " takes a number from 1, not " + escape::quoted(text));
}

Outcome<StudyArray> study_array(const Options& options, const Invocation& invocation, const StudyRequest& request) {
  constexpr unsigned kTasks = 16;
  const auto tasks = number_of(options, "array-size", kTasks);
  if (!tasks) return std::unexpected(tasks.error());
  const bool cores_given = options.text("jobs") != "0";
  std::error_code error;
  StudyArray how{.program = std::filesystem::read_symlink("/proc/self/exe", error).string(),
                 .arguments = task_arguments(invocation.arguments),
                 .array = {.name = "warpfold-" + request.study.name(), .tasks = *tasks, .cpus = cores_given ? request.how.jobs : 1},
                 .wait = options.has("wait")};
  if (std::filesystem::path(how.program).filename().string().starts_with("python"))
    return user_error("--slurm submits the program warpfold, not a Python package");
  how.arguments.insert(how.arguments.end(), {"--jobs", std::to_string(how.array.cpus)});
  how.array.partition = options.text("partition");
  how.array.time = options.text("time");
  std::istringstream words(options.text("sbatch"));
  for (std::string word; words >> word;) how.array.more.push_back(word);
  return how;
}

Outcome<void> check_slurm_options(const Options& options) {
  for (const char* name : {"partition", "array-size", "time", "sbatch"}) {
    if (options.has(name) && !options.has("slurm")) return user_error(std::string("--") + name + " goes with --slurm");
  }
  if (options.has("wait") && !options.has("slurm")) return user_error("--wait goes with --slurm");
  if (options.has("collect") && options.has("slurm"))
    return user_error("--collect draws a study that --slurm submitted: give one of the two");
  for (const char* name : {"slurm", "collect", "worker"}) {
    if (options.has(name) && !options.has("output"))
      return user_error(std::string("--") + name + " goes with --output FOLDER, where the tasks keep their points");
  }
  return {};
}

// Returns the points of the study, simulated here or by Slurm; none if they are not complete yet, which a line of output then says.
Outcome<std::optional<PointRecords>> make_points(const Options& options, const Invocation& invocation,
                                                 const StudyRequest& request) {
  if (options.has("slurm")) {
    const auto how = study_array(options, invocation, request);
    if (!how) return std::unexpected(how.error());
    const auto said = submit_study(request, *how);
    if (!said) return std::unexpected(said.error());
    if (auto written = write_output("", *said); !written) return std::unexpected(written.error());
    if (!how->wait) return std::nullopt;
  }
  if (!options.has("collect") && !options.has("slurm")) return run_study(request);
  auto records = collect_study(request);
  if (records) return std::move(*records);
  const std::string job = last_job(request);
  if (job.empty() || records.error().text.find("--collect") != 0) return std::unexpected(records.error());
  return user_error(records.error().text + "; " + job);
}

}  // namespace

Outcome<void> study_command(const Invocation& invocation) {
  Options options(
      "warpfold study STUDY|SCENARIO [options]",
      "Simulates a scenario over a grid of values under several policies and prints a table of the points. With --output it\n"
      "writes a table (CSV) and a picture (SVG, drawn by gnuplot) for each figure and each Pareto front of the study, and\n"
      "keeps finished points: an interrupted study resumes. STUDY is a file, or the name of an installed study. With --axis\n"
      "the argument is a scenario. A Pareto front in a study's file:\n"
      "  front { name: \"f\" minimize: \"total_time_us\" minimize: \"gpu.sm_count * gpu.clock_mhz\" }",
      "  warpfold study dropout-overlap --output dropout\n"
      "  warpfold study study.textproto --gpu h200_sxm --output h200\n"
      "  warpfold study qkv_philox_llama3_70b --axis gpu.sm.tensor.scale=1,2,4 --axis 'gpu.sm_count=100..160 step 10' \\\n"
      "    --policies sequential,carve_out --format csv\n"
      "  warpfold study dropout-overlap --output dropout --slurm --partition cpu --array-size 64 --time 30:00\n"
      "  warpfold study dropout-overlap --output dropout --collect\n");
  options.positional("STUDY", 1, 1);
  options.add()("axis", boost::program_options::value<std::vector<std::string>>()->composing()->value_name("NAME=VALUES"),
                "vary a parameter or a field of the scenario, or gpu, over values and ranges separated by commas: '100..160 step "
                "10', '1..64 times 2', '1..1000 log 4'; repeatable: all combinations");
  options.add()("where", boost::program_options::value<std::vector<std::string>>()->composing()->value_name("CONDITION"),
                "with --axis: keep points that satisfy this condition: 'embedding == 128 * heads'; repeatable");
  options.add()("policies", boost::program_options::value<std::string>()->value_name("LIST"),
                "with --axis: policies, separated by commas; default: the scenario's");
  options.add()("format", boost::program_options::value<std::string>()->value_name("FORMAT"),
                "csv or json: write every point under every policy to standard output; default: a table for reading");
  options.add_settings();
  add_run_options(options, "0.01");  // 1 % is enough for a map, and takes half the time
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("FOLDER"),
                "folder of tables, pictures and finished points; default: none is kept. Processes with the same folder share the "
                "work, also from several machines");
  add_slurm_options(options);
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;

  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  configs::Places places;
  const auto study = find_study(options, places);
  if (!study) return std::unexpected(study.error());
  if (auto checked = check_format(options); !checked) return checked;
  const std::string folder = options.text("output");
  if (options.has("output") && folder.empty()) return user_error("--output: the folder's name is empty");
  for (const std::string& setting : options.settings()) {
    const std::string name = setting.substr(0, setting.find('='));
    const bool varied = std::ranges::find(study->axis(), name, &configs::Axis::name) != study->axis().end();
    if (varied) return user_error("--set " + setting + ": the study varies " + name + " itself");
  }
  if (auto checked = check_slurm_options(options); !checked) return checked;
  const StudyRequest request{.study = *study,
                             .places = std::move(places),
                             .settings = options.settings(),
                             .folder = folder,
                             .command_line = invocation.command_line,
                             .how = *how};
  if (options.has("worker")) return work_on_study(request, options.text("worker"));
  const auto made = make_points(options, invocation, request);
  if (!made) return std::unexpected(made.error());
  if (!*made) return {};
  const PointRecords& records = **made;
  const auto fronts = find_fronts(*study, records);
  if (!fronts) return std::unexpected(fronts.error());
  const auto text = folder.empty() ? point_texts(*study, records) : StudyFiles(*study, records, *fronts, folder).write();
  if (!text) return std::unexpected(text.error());
  if (!options.has("format")) return write_output("", *text + front_texts(*study, *fronts) + warning_lines(*study, records));
  return write_output("",
                      options.text("format") == "csv" ? study_table(*study, records).csv() : study_json(*study, records, *fronts));
}

}  // namespace warpfold::cli
