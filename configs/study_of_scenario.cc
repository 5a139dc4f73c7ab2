#include "configs/study_of_scenario.h"

#include <filesystem>
#include <optional>

#include "configs/axis_values.h"
#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/search_path.h"

namespace warpfold::configs {

namespace {

// The index in the first brackets behind `at`: 1 of "axis[1]".
std::optional<size_t> index_in(const std::string& path, size_t at) {
  const size_t open = path.find('[', at);
  if (open == std::string::npos) return std::nullopt;
  return static_cast<size_t>(std::stoi(path.substr(open + 1)));
}

// Returns the character, counted from 1, at which the n-th value of "NAME=VALUE,VALUE,..." begins.
size_t character_of(const std::string& axis, size_t value) {
  size_t at = axis.find('=') + 1;
  for (size_t v = 0; v < value; ++v) at = axis.find(',', at) + 1;
  return at + 1;
}

// Returns the word of the command line that a finding is about, and the character of the value: "axis[1].value[0]" is
// of the second --axis.
std::string option_at(const std::string& path, const std::vector<std::string>& axes, const std::vector<std::string>& where) {
  const auto index = index_in(path, 0);
  if (!index) return "";
  const std::string list = path.substr(0, path.find('['));
  if (list == "where" && *index < where.size()) return "--where " + escape::quoted(where[*index]) + ": ";
  if (list != "axis" || *index >= axes.size()) return "";
  const std::string option = "--axis " + escape::quoted(axes[*index]);
  const size_t value = path.find(".value[");
  if (value == std::string::npos) return option + ": ";
  return option + ", character " + std::to_string(character_of(axes[*index], *index_in(path, value))) + ": ";
}

}  // namespace

Expected<Study> study_of_scenario(const std::string& named, const std::vector<std::string>& axes,
                                  const std::vector<std::string>& where, const std::vector<PolicyKind>& policies) {
  const auto scenario = find_config(named, "scenarios");
  if (!scenario) return std::unexpected(scenario.error());
  Study study;
  study.set_name(std::filesystem::path(*scenario).stem().string());
  study.set_scenario_file(*scenario);
  for (const std::string& text : axes) {
    auto axis = axis_of(text);
    if (!axis) return std::unexpected(axis.error());
    *study.add_axis() = std::move(*axis);
  }
  for (const std::string& condition : where) study.add_where(condition);
  for (const PolicyKind policy : policies) study.add_policy(policy);
  std::optional<Finding> fault = expand_axes(study);
  if (!fault) fault = find_study_fault(study);
  if (fault) return fail(option_at(fault->path, axes, where) + fault->message);
  return study;
}

}  // namespace warpfold::configs
