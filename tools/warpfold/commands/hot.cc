#include <charconv>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/hot_table.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

Outcome<size_t> top_option(const Options& options) {
  const std::string text = options.text("top");
  size_t top = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), top);
  if (error == std::errc() && end == text.data() + text.size() && top > 0) return top;
  return user_error("--top takes a number of instructions from 1 on, not " + escape::quoted(text));
}

// Fails if a selected kernel or role does not exist.
Outcome<void> check_names(const policies::Plan& plan, const HotSelection& selection) {
  std::vector<std::string> kernels;
  std::vector<std::string> roles;
  for (const policies::PlannedKernel& planned : plan.kernels) {
    kernels.push_back(planned.kernel.name);
    if (!selection.kernel.empty() && planned.kernel.name != selection.kernel) continue;
    for (const traces::Role& role : planned.kernel.roles) roles.push_back(role.name);
  }
  const auto missing = [](const std::string& name, const std::vector<std::string>& names) {
    return !name.empty() && std::ranges::find(names, name) == names.end();
  };
  if (missing(selection.kernel, kernels))
    return user_error("--kernel: no kernel " + escape::quoted(selection.kernel) + suggestion(selection.kernel, kernels));
  if (missing(selection.role, roles))
    return user_error("--role: no role " + escape::quoted(selection.role) + suggestion(selection.role, roles));
  return {};
}

Outcome<HotSelection> selection_option(const Options& options, const policies::Plan& plan) {
  HotSelection selection{.kernel = options.text("kernel"), .role = options.text("role"), .listing = options.has("listing")};
  const auto top = top_option(options);
  if (!top) return std::unexpected(top.error());
  selection.top = *top;
  if (auto names = check_names(plan, selection); !names) return std::unexpected(names.error());
  return selection;
}

}  // namespace

Outcome<void> hot_command(const Invocation& invocation) {
  Options options(
      "warpfold hot SCENARIO [options]",
      "Simulates the kernels of a scenario together and lists the instructions with the most warp-cycles, with issue counts\n"
      "and stall reasons.",
      "  warpfold hot qkv_philox_llama3_70b --top 5\n"
      "  warpfold hot scenario.textproto --kernel rng --role rng --listing\n"
      "  warpfold hot scenario.textproto --format csv --output hot.csv\n");
  add_policy_option(options);
  add_request(options);
  options.add()("kernel", po::value<std::string>()->value_name("NAME"), "this kernel alone");
  options.add()("role", po::value<std::string>()->value_name("NAME"), "warps of this role alone");
  options.add()("top", po::value<std::string>()->default_value("10")->value_name("N"),
                "instructions of each role, the hottest first");
  options.add()("listing", "every instruction instead, in program order, with loops");
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  request->how.account = sim::AccountGranularity::kByInstruction;
  request->how.alone = false;
  const auto planned = request->plan();
  if (!planned) return std::unexpected(planned.error());
  const auto selection = selection_option(options, planned->plan);
  if (!selection) return std::unexpected(selection.error());
  const auto results = Runner(request->kernels, invocation.command_line, request->how).run({*planned});
  if (!results) return std::unexpected(results.error());
  std::vector<const traces::Kernel*> kernels;
  for (const policies::PlannedKernel& kernel : planned->plan.kernels) kernels.push_back(&kernel.kernel);
  return write_output(request->destination.path, render_hot(results->front(), kernels, *selection, request->destination.format));
}

}  // namespace warpfold::cli
