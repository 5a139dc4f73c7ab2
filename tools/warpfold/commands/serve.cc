#include "tools/warpfold/serve/server.h"

#include <filesystem>

#include "configs/search_path.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

std::vector<std::string> names_of(std::string_view kind) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : configs::config_files(kind)) names.push_back(file.stem().string());
  return names;
}

}  // namespace

Outcome<void> serve_command(const Invocation& invocation) {
  Options options(
      "warpfold serve [SCENARIO] [options]",
      "Serves a workbench to a browser of this machine and prints its address. The left side is a form of the scenario, the GPU\n"
      "and the policy, the middle has the result, and the right side its changes since a pinned result. Every result shows the\n"
      "command that writes it. Ctrl-C ends the server (docs/serve.md).",
      "  warpfold serve\n"
      "  warpfold serve qkv_philox_llama3_70b --port 8080\n"
      "  warpfold serve my_scenario.textproto\n");
  options.positional("SCENARIO", 0, 1);
  options.add()("port", po::value<std::string>()->default_value("0")->value_name("N"), "port of 127.0.0.1; 0: any that is free");
  options.add()("answer-time", po::value<std::string>()->default_value("60")->value_name("SECONDS"),
                "seconds that one answer may take");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  constexpr uint32_t kMostPort = 65535;
  constexpr uint32_t kMostSeconds = 86400;
  const auto port = options.number("port", 0, kMostPort);
  if (!port) return std::unexpected(port.error());
  const auto seconds = options.number("answer-time", 1, kMostSeconds);
  if (!seconds) return std::unexpected(seconds.error());

  serve::Names names{names_of("scenarios"), names_of("gpus"), names_of("models")};
  serve::ServerOptions how{.port = static_cast<uint16_t>(*port), .scenario = "qkv_philox_small"};
  how.limits.time = std::chrono::seconds(*seconds);
  if (!options.arguments().empty()) {
    how.scenario = options.arguments().front();
    if (const auto found = find_of_kind(how.scenario, FileKind::kScenario, options.command()); !found)
      return std::unexpected(found.error());
  }
  if (std::ranges::find(names.scenarios, how.scenario) == names.scenarios.end())
    names.scenarios.insert(names.scenarios.begin(), how.scenario);
  serve::Server server(std::move(names), std::move(how));
  if (auto listening = server.listen(); !listening) return user_error(listening.error().message);
  if (auto written = write_output("", server.site().url() + "\n"); !written) return written;
  server.run();
  return {};
}

}  // namespace warpfold::cli
