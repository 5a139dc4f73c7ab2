#include "configs/study_of_scenario.h"

#include <filesystem>
#include <optional>

#include "configs/axis_values.h"
#include "configs/check.h"
#include "configs/search_path.h"
#include "escape/quoted.h"

namespace warpfold::configs {

namespace {

// The word of the command line that a finding is about: "axis[1].value[0]" is the second --axis.
std::string option_at(const std::string& path, const std::vector<std::string>& axes, const std::vector<std::string>& where) {
  const size_t open = path.find('[');
  if (open == std::string::npos) return "";
  const auto index = static_cast<size_t>(std::stoi(path.substr(open + 1)));
  const std::string list = path.substr(0, open);
  if (list == "axis" && index < axes.size()) return "--axis " + escape::quoted(axes[index]) + ": ";
  if (list == "where" && index < where.size()) return "--where " + escape::quoted(where[index]) + ": ";
  return "";
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
