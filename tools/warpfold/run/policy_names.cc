#include "tools/warpfold/run/policy_names.h"

#include <algorithm>
#include <cctype>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
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

Outcome<std::vector<configs::PolicyKind>> policies_in(const std::string& list, bool takes_all) {
  std::vector<configs::PolicyKind> kinds;
  if (takes_all && policy_option_name(list) == "all") {
    for (const policies::Policy* policy : policies::all()) kinds.push_back(policy->kind());
    return kinds;
  }
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, comma - at);
    if (takes_all && policy_option_name(name) == "all") return user_error("--policies: all excludes a list of policies");
    const auto kind = policy_by_name("--policies", name, takes_all ? std::vector<std::string>{"all"} : std::vector<std::string>{});
    if (!kind) return std::unexpected(kind.error());
    if (std::ranges::find(kinds, *kind) != kinds.end()) return user_error("--policies: " + name + " is given twice");
    kinds.push_back(*kind);
    at = comma + 1;
  }
  return kinds;
}

void add_policy_option(Options& options) {
  options.add()("policy", boost::program_options::value<std::string>()->value_name("NAME"),
                "run under this policy instead of the scenario's");
}

}  // namespace warpfold::cli
