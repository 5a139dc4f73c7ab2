#include "tools/warpfold/run/validation_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "configs/escape/quoted.h"
#include "tools/validation/map_row.h"
#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/run/launch_rows.h"
#include "tools/warpfold/run/validation_points.h"

namespace warpfold::cli {

namespace {

using validation::Comparison;
using validation::MeasuredRow;
using validation::Quantity;

struct Entry {
  MeasuredRow row;
  std::optional<Comparison> comparison{};
  std::string reason{};  // set if the row has no comparison
};

bool holds(const std::string& text, const std::string& part) { return part.empty() || text.find(part) != std::string::npos; }

Outcome<std::vector<Entry>> map_rows(const ValidationRequest& request) {
  validation::RowMapper mapper(request.gpus, request.settings);
  const std::string operators = (std::filesystem::path(request.gpus).parent_path() / "kernels" / "operators").string();
  std::vector<Entry> entries;
  for (const std::string& file : request.data) {
    auto rows = validation::read_measured_rows(file);
    if (!rows) return std::unexpected(Failure(rows.error()));
    for (MeasuredRow& row : *rows) {
      if (!request.only_rows.empty() && !request.only_rows.contains(row.id())) continue;
      auto mapped = map_row_or_launch(row, mapper, operators);
      if (!mapped && mapped.error().mistake) return std::unexpected(Failure(*mapped.error().mistake));
      entries.push_back({std::move(row)});
      if (mapped) {
        entries.back().comparison = std::move(*mapped);
      } else {
        entries.back().reason = mapped.error().reason;
      }
    }
  }
  for (const std::string& id : request.only_rows) {
    if (std::ranges::none_of(entries, [&](const Entry& entry) { return entry.row.id() == id; }))
      return user_error("no row has the id " + escape::quoted(id));
  }
  return entries;
}

bool wanted(const Entry& entry, const ValidationRequest& request) {
  if (!entry.comparison)
    return holds(entry.row.text("gpu"), request.only_gpu) && holds(entry.row.text("kernel"), request.only_kernel);
  const Comparison& comparison = *entry.comparison;
  const std::string& gpu = comparison.runs.front().scenario.gpu().name();
  return (holds(gpu, request.only_gpu) || holds(entry.row.text("gpu"), request.only_gpu)) &&
         (holds(comparison.family, request.only_kernel) || holds(comparison.kernel, request.only_kernel));
}

void add_unmapped(const Entry& entry, const std::string& reason, configs::Validation& validation) {
  configs::UnmappedRow& row = *validation.add_unmapped();
  row.set_id(entry.row.id());
  row.set_file(entry.row.file());
  row.set_line(static_cast<uint32_t>(entry.row.line()));
  row.set_reason(reason);
}

void add_row(const Entry& entry, const ValidationPoints& simulations, configs::Validation& validation) {
  if (!entry.comparison) return add_unmapped(entry, entry.reason, validation);
  std::vector<const configs::SimulatedPoint*> points;
  for (const validation::Run& run : entry.comparison->runs) {
    const auto& point = simulations.find(run, entry.comparison->quantity == Quantity::kSlowdown);
    if (!point) return add_unmapped(entry, point.error().text, validation);
    if (const std::string unknown = unknown_kernel(*entry.comparison, *point); !unknown.empty())
      return add_unmapped(entry, unknown, validation);
    points.push_back(&*point);
  }
  configs::ValidatedRow row = validated_row(entry.row, *entry.comparison, points);
  if (const std::string none = why_no_figure(row); !none.empty()) return add_unmapped(entry, none, validation);
  *validation.add_rows() = std::move(row);
}

// Phrases of rows that no simulation follows, by form, in the order of their first rows.
class UnreadPhrases {
 public:
  void add(const Entry& entry) {
    for (const std::string& phrase : entry.row.phrases().unread) add(phrase, "not known", entry.row);
    for (const std::string& phrase : entry.row.phrases().contradicts) add(phrase, "contradicts an earlier phrase", entry.row);
    if (!entry.comparison) return;
    for (const std::string& phrase : entry.comparison->unfollowed) add(phrase, "not followed", entry.row);
  }
  void write(configs::Validation& validation) const {
    for (const configs::UnreadPhrase& phrase : phrases_) *validation.add_unread() = phrase;
  }

 private:
  void add(const std::string& text, const std::string& why, const MeasuredRow& row) {
    const std::string form = validation::form_of(text);
    const auto [found, is_new] = index_.try_emplace({form, why}, phrases_.size());
    if (is_new) {
      configs::UnreadPhrase& phrase = phrases_.emplace_back();
      phrase.set_phrase(form);
      phrase.set_example(text);
      phrase.set_id(row.id());
      phrase.set_why(why);
    }
    configs::UnreadPhrase& phrase = phrases_[found->second];
    phrase.set_rows(phrase.rows() + 1);
  }

  std::vector<configs::UnreadPhrase> phrases_;
  std::map<std::pair<std::string, std::string>, size_t> index_;  // by form and reason
};

}  // namespace

Outcome<configs::Validation> run_validation(const ValidationRequest& request) {
  auto entries = map_rows(request);
  if (!entries) return std::unexpected(entries.error());
  std::erase_if(*entries, [&](const Entry& entry) { return !wanted(entry, request); });
  if (entries->empty()) return user_error("no row matches --gpu and --kernel");
  ValidationPoints simulations(request.how, request.command_line, request.resume);
  for (const Entry& entry : *entries) {
    if (!entry.comparison) continue;
    for (const validation::Run& run : entry.comparison->runs)
      simulations.add(run, entry.comparison->quantity == Quantity::kSlowdown);
  }
  if (auto simulated = simulations.simulate_all(); !simulated) return std::unexpected(simulated.error());
  configs::Validation validation;
  validation.set_version(WARPFOLD_VERSION);
  validation.set_command_line(request.command_line);
  for (const std::string& file : request.data) validation.add_data(file);
  UnreadPhrases unread;
  for (const Entry& entry : *entries) {
    add_row(entry, simulations, validation);
    unread.add(entry);
  }
  unread.write(validation);
  add_error_groups(validation);
  validation.set_simulations(static_cast<uint32_t>(simulations.simulated()));
  return validation;
}

}  // namespace warpfold::cli
