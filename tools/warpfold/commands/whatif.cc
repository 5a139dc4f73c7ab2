#include <algorithm>
#include <charconv>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "configs/resources.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/what_if_report.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/request.h"
#include "tools/warpfold/run/what_if_runs.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

constexpr double kMostFactor = 8;  // the limit of scales in configs

Outcome<double> factor_option(const Options& options) {
  const std::string text = options.text("factor");
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  // The form of these comparisons makes a NaN fail too.
  const bool good = error == std::errc() && end == text.data() + text.size() && factor > 1 && factor <= kMostFactor;
  if (!good) return user_error("--factor takes a number above 1, up to 8, not " + escape::quoted(text));
  return factor;
}

Outcome<std::vector<const configs::ScalableResource*>> resources_option(const Options& options) {
  std::vector<const configs::ScalableResource*> wanted;
  const std::string list = options.text("resources");
  if (list == "all") {
    for (const configs::ScalableResource& resource : configs::scalable_resources()) {
      if (!resource.many) wanted.push_back(&resource);
    }
    return wanted;
  }
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, comma - at);
    const configs::ScalableResource* resource = configs::find_resource(name);
    if (resource == nullptr) {
      return user_error("--resources: unknown resource " + escape::quoted(name) + suggestion(name, configs::resource_names()));
    }
    if (std::ranges::find(wanted, resource) != wanted.end()) return user_error("--resources: " + name + " is given twice");
    wanted.push_back(resource);
    at = comma + 1;
  }
  return wanted;
}

std::string resource_help() {
  std::string text = "Resources:\n";
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    std::string name(resource.name);
    name.resize(std::max<size_t>(name.size(), 22), ' ');
    text.append("  ").append(name).append(resource.what).append("\n");
  }
  return text;
}

}  // namespace

Outcome<void> whatif_command(const Invocation& invocation) {
  Options options(
      "warpfold whatif SCENARIO [options]",
      "Simulates a scenario on machines with more, and with less, of one resource at a time, and ranks the resources by\n"
      "speed-up. Programs are unchanged, tiling and control codes included (docs/whatif.md). Other commands take such a\n"
      "machine as a setting: --set sm.tensor.scale=2.\n\n" +
          resource_help(),
      "  warpfold whatif qkv_philox_small\n"
      "  warpfold whatif scenario.textproto --policy carve_out --resources tensor,issue_slot,l2_latency --factor 1.5\n"
      "  warpfold whatif scenario.textproto --format csv --output sensitivity.csv\n"
      "  warpfold simulate scenario.textproto --set sm.tensor.scale=2\n");
  add_policy_option(options);
  options.add()("resources", po::value<std::string>()->default_value("all")->value_name("LIST"),
                "resources of the list above, separated by commas; all: all except sm_count, clock and power_cap, which scale "
                "several resources at once");
  options.add()("factor", po::value<std::string>()->default_value("2")->value_name("F"), "factor up and down; above 1, up to 8");
  add_request(options);
  options.add_html();
  options.add_output();
  const auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  WhatIfQuestion question{.scenario = {request->kernels.file(), request->settings, request->command_line}, .resources = {}};
  const auto factor = factor_option(options);
  if (!factor) return std::unexpected(factor.error());
  question.factor = *factor;
  auto resources = resources_option(options);
  if (!resources) return std::unexpected(resources.error());
  question.resources = std::move(*resources);
  const auto result = ask_what_if(question, request->how);
  if (!result) return std::unexpected(result.error());
  if (auto written = write_html_option(options, *result); !written) return written;
  return write_output(request->destination.path, render_what_if(*result, request->destination.format));
}

}  // namespace warpfold::cli
