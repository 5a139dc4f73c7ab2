#include "tools/warpfold/commands/policy_names.h"

#include <algorithm>
#include <cctype>

#include "configs/near_miss.h"
#include "escape/quoted.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

std::string policy_option_name(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name;
}

Outcome<configs::PolicyKind> policy_by_name(const std::string& option, const std::string& name,
                                            const std::vector<std::string>& besides) {
  std::vector<std::string> known;
  for (const policies::Policy* policy : policies::all()) {
    known.push_back(policy_option_name(configs::PolicyKind_Name(policy->kind())));
    if (policy_option_name(name) == known.back()) return policy->kind();
  }
  known.insert(known.end(), besides.begin(), besides.end());
  return user_error(option + ": unknown policy " + escape::quoted(name) + suggestion(name, known));
}

void add_policy_option(Options& options) {
  options.add()("policy", boost::program_options::value<std::string>()->value_name("NAME"),
                "run under this policy instead of the scenario's");
}

Outcome<std::vector<std::string>> settings_with_policy(const Options& options, std::vector<std::string> settings) {
  if (!options.has("policy")) return settings;
  const auto kind = policy_by_name("--policy", options.text("policy"));
  if (!kind) return std::unexpected(kind.error());
  settings.push_back("policy.kind=" + configs::PolicyKind_Name(*kind));
  return settings;
}

}  // namespace warpfold::cli
