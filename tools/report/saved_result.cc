#include "tools/report/saved_result.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/read_file.h"
#include "configs/study.pb.h"
#include "tools/report/difference.h"
#include "tools/report/findings.h"
#include "tools/report/json_reader.h"
#include "tools/report/layer_graph.h"
#include "tools/report/layer_verdict.h"
#include "tools/report/overall.h"
#include "tools/report/saved_kinds.h"

namespace warpfold::report {

namespace {

constexpr size_t kMostFindings = 12;  // of one run

// Returns the number of keys that the type has.
size_t known_keys(const google::protobuf::Descriptor& type, const std::vector<std::string>& keys) {
  return static_cast<size_t>(
      std::ranges::count_if(keys, [&type](const std::string& key) { return type.FindFieldByName(key) != nullptr; }));
}

SavedKind kind_of(const std::vector<std::string>& keys) {
  return *std::ranges::max_element(saved_kinds(), {},
                                   [&keys](const SavedKind& kind) { return known_keys(*kind.schema->GetDescriptor(), keys); });
}

std::unexpected<Diagnostic> not_a_result(const std::string& file, const std::string& what) {
  return fail_at(file, 1, 1, "expected a result of simulate, compare or model (--format json), found " + what);
}

// Names a missing part that every written result has and that renderers rely on. Only a file that was changed by hand lacks one.
std::optional<std::string> missing_part(const configs::Result& result) {
  for (const configs::KernelResult& kernel : result.kernels()) {
    if (!std::ranges::equal(kernel.states(), result.kernels(0).states(), {}, &configs::StateCycles::state,
                            &configs::StateCycles::state))
      return "kernel " + escape::quoted(kernel.name()) + " has other states than kernel " +
             escape::quoted(result.kernels(0).name());
    if (result.has_model() && kernel.limiters().empty())
      return "kernel " + escape::quoted(kernel.name()) + " of the limiter model has no limiters";
  }
  if (result.has_power() && result.power().kernels_size() != result.kernels_size())
    return "power is of " + std::to_string(result.power().kernels_size()) + " kernels, the result of " +
           std::to_string(result.kernels_size());
  if (result.has_what_if() && result.what_if().resources().empty()) return "what_if has no resources";
  return std::nullopt;
}

// Renumbers a result's estimated runs, since their numbers are unique within a document only: a number in another file means
// another run.
void renumber_estimated(const std::string& file, const configs::Report& others, configs::Result& result) {
  uint32_t taken = 0;
  for (const configs::Run& run : others.run()) {
    if (run.file() == file) continue;
    for (const configs::EstimatedRun& each : run.result().fold().estimated()) taken = std::max(taken, each.run());
  }
  if (taken == 0 || !result.has_fold()) return;
  for (configs::EstimatedRun& each : *result.mutable_fold()->mutable_estimated()) each.set_run(taken + each.run());
}

void add_run(const configs::Result& result, std::string label, std::string path, const std::string& file, configs::Report& report) {
  configs::Result numbered = result;
  renumber_estimated(file, report, numbered);
  configs::Run& run = *report.add_run();
  run.set_label(std::move(label));
  run.set_path(std::move(path));
  run.set_file(file);
  *run.mutable_result() = std::move(numbered);
  for (configs::Statement& each : findings(result, kMostFindings)) *run.add_finding() = std::move(each);
}

std::string label_of(const configs::Result& result) {
  return result.has_model() ? result.scenario() + ", limiter model" : result.scenario() + ", " + result.policy();
}

void add(const configs::Result& result, const std::string& prefix, const std::string& file, configs::Report& report) {
  add_run(result, file.empty() ? label_of(result) : std::filesystem::path(file).filename().string(), prefix + "result", file,
          report);
}

void add(const configs::Comparison& comparison, const std::string& prefix, const std::string& file, configs::Report& report) {
  const std::string start = prefix.empty() ? "" : std::filesystem::path(file).filename().string() + ": ";
  for (int r = 0; r < comparison.results_size(); ++r) {
    const configs::Result& result = comparison.results(r);
    add_run(result, start + result.policy(), prefix + "comparison.results[" + std::to_string(r) + "]", file, report);
  }
  for (const configs::Skipped& skipped : comparison.skipped()) *report.add_skipped() = skipped;
  for (const configs::TakenSettings& taken : comparison.taken()) *report.add_taken() = taken;
}

// Adds the difference of two runs by the same estimator, and the findings over all runs.
configs::Report finished(configs::Report report) {
  report.set_version(WARPFOLD_VERSION);
  if (report.run_size() == 2 && report.run(0).result().has_model() == report.run(1).result().has_model()) {
    *report.mutable_difference() = difference_of(report.run(0), report.run(1));
  }
  for (configs::Statement& each : overall_findings(report)) *report.add_finding() = std::move(each);
  return report;
}

// Returns the first format that a document states; 0 if it states none.
uint32_t stated_format(const std::string& text) {
  static const std::regex kFormat(R"(\"format\"\s*:\s*(\d{1,9}))");
  constexpr size_t kBeginning = 4096;  // the format is a result's first field
  const std::string beginning = text.substr(0, kBeginning);
  std::smatch found;
  return std::regex_search(beginning, found, kFormat) ? static_cast<uint32_t>(std::stoul(found[1])) : 0;
}

Expected<void> add_file(const std::string& file, const std::string& prefix, configs::Report& report) {
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  const size_t begin = text->find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return not_a_result(file, "an empty file");
  if ((*text)[begin] == '[') return not_a_result(file, "a list: the rows of a table");
  if (const uint32_t format = stated_format(*text); format > kResultFormat) {
    return fail_at(file, 1, 1,
                   "a result of format " + std::to_string(format) +
                       ", which a later version of Warpfold wrote; this one reads up to format " + std::to_string(kResultFormat));
  }
  const std::vector<std::string> keys = top_keys(*text);
  const SavedKind kind = kind_of(keys);
  const google::protobuf::Descriptor* const type = kind.schema->GetDescriptor();
  const size_t known = known_keys(*type, keys);
  if (type == configs::Comparison::descriptor() && known > 0) {
    configs::Comparison comparison;
    if (auto read = read_json(file, *text, comparison); !read) return read;
    if (comparison.results().empty()) return not_a_result(file, "a comparison without results");
    for (const configs::Result& each : comparison.results()) {
      if (each.kernels().empty()) return not_a_result(file, "a comparison with a result without kernels");
      if (const auto missing = missing_part(each)) return not_a_result(file, "one that does not hold together: " + *missing);
    }
    add(comparison, prefix, file, report);
    return {};
  }
  if (!keys.empty() && known == 0) {
    return not_a_result(file, "an object with " + escape::quoted(keys.front()));
  }
  if (!keys.empty() && type != configs::Result::descriptor()) return not_a_result(file, "a " + std::string(kind.words));
  configs::Result result;
  if (auto read = read_json(file, *text, result); !read) return read;
  if (result.kernels().empty()) return not_a_result(file, "a result without kernels");
  if (const auto missing = missing_part(result)) return not_a_result(file, "one that does not hold together: " + *missing);
  add(result, prefix, file, report);
  return {};
}

}  // namespace

Expected<configs::Report> read_results(const std::vector<std::string>& files) {
  configs::Report report;
  for (size_t f = 0; f < files.size(); ++f) {
    // Several inputs get letters: A, B, ..., Z, A1, B1, ...
    constexpr size_t kLetters = 26;
    std::string prefix;
    if (files.size() > 1) {
      prefix.append(1, static_cast<char>('A' + f % kLetters)).append(f < kLetters ? "" : std::to_string(f / kLetters)).append(".");
    }
    if (auto added = add_file(files[f], prefix, report); !added) return std::unexpected(added.error());
  }
  return finished(std::move(report));
}

configs::Report report_of(const configs::Result& result) {
  configs::Report report;
  add(result, "", "", report);
  return finished(std::move(report));
}

configs::Report report_of(const configs::Comparison& comparison) {
  configs::Report report;
  add(comparison, "", "", report);
  return finished(std::move(report));
}

configs::Report report_of(const configs::LayerReport& layer) {
  configs::Report report;
  *report.mutable_layer() = layer;
  for (configs::Statement& each : layer_verdict(layer)) *report.add_finding() = std::move(each);
  for (int v = 0; v < layer.versions_size(); ++v) report.add_layer_graph(layer_graph(layer, v, false));
  return finished(std::move(report));
}

configs::Report report_of(const configs::ProfileReport& profile) {
  configs::Report report;
  *report.mutable_profile() = profile;
  return finished(std::move(report));
}

configs::Report report_of(const configs::Validation& validation) {
  configs::Report report;
  *report.mutable_validation() = validation;
  return finished(std::move(report));
}

}  // namespace warpfold::report
