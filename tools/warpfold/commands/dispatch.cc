#include "tools/warpfold/commands/dispatch.h"

#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/log.h"

namespace warpfold::cli {

namespace {

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  Outcome<void> (*run)(const Invocation&);
};

constexpr std::array kSubcommands{
    Subcommand{"simulate", "run a scenario and report times, stalls and contention", simulate_command},
    Subcommand{"compare", "run a scenario under several policies, one line each", compare_command},
    Subcommand{"whatif", "scale every resource up and down in turn and rank the speed-ups", whatif_command},
    Subcommand{"occupancy", "CTAs an SM, the resource that limits them, and the speed-up of a smaller footprint",
               occupancy_command},
    Subcommand{"hot", "the instructions with the most warp-cycles, and their stall reasons", hot_command},
    Subcommand{"cycles", "what each warp of a sub-core does, cycle by cycle", cycles_command},
    Subcommand{"study", "run a scenario over a grid of values; tables and pictures", study_command},
    Subcommand{"model", "the limiter model: lower bounds on kernels in sequence, fused and overlapped", model_command},
    Subcommand{"layer", "a transformer's layer, operator by operator: limits, times and savings by fusion", layer_command},
    Subcommand{"profile", "which kernels of a torch.profiler trace could run beside which", profile_command},
    Subcommand{"roofline", "operations and bytes of each kernel under the GPU's roofs", roofline_command},
    Subcommand{"report", "show saved results as tables or a page, or the difference of two", report_command},
    Subcommand{"serve", "a workbench in the browser: turn a knob, see the machine answer", serve_command},
    Subcommand{"import", "make a kernel from a SASS listing, without a GPU", import_command},
    Subcommand{"import-trace", "make kernels with loops from traces of Accel-Sim's tracer", import_trace_command},
    Subcommand{"trace", "write, dump, measure and check kernel traces", trace_command},
    Subcommand{"list", "list installed scenarios, GPUs, models, studies and kernels", list_command},
    Subcommand{"gpu", "list GPU files, show one, compare two, make a new one", gpu_command},
    Subcommand{"validate", "compare simulations with measured rows (CSV)", validate_command},
    Subcommand{"check", "tell the kind of a file and whether it is valid", check_command},
};

// Making a path absolute throws if its folder, or the working folder, vanishes meanwhile.
Outcome<void> run(const Subcommand& command, const Invocation& invocation) {
  try {
    auto done = command.run(invocation);
    if (!done && done.error().exit_code == kSuccess) return write_output("", done.error().text);  // help
    return done;
  } catch (const std::filesystem::filesystem_error& error) {
    return user_error("cannot find " + escape::quoted_path(error.path1().string()) + ": " + error.code().message());
  }
}

std::string usage() {
  std::string text =
      "Usage: warpfold COMMAND [arguments]\n\n"
      "A discrete-event, cycle-approximate simulator of kernels that share GPU streaming multiprocessors.\n\nCommands\n";
  for (const Subcommand& command : kSubcommands) {
    text.append("  ").append(command.name).append(14 - command.name.size(), ' ').append(command.summary).append("\n");
  }
  text += "\nOptions\n  --help     this text; warpfold COMMAND --help has the options of a command\n  --version  the version\n\n" +
          limit_help() + log_help() +
          "\n"
          "Exit codes: 0 success, 2 the input is invalid (one line on stderr), 3 the simulated program deadlocks\n"
          "(a report on stderr), 4 --time-limit or --memory-limit is reached, 5 a file or standard output cannot be written (one\n"
          "line on stderr), 1 a defect of this program.\n\n"
          "Examples:\n"
          "  warpfold simulate qkv_philox_llama3_70b\n"
          "  warpfold compare qkv_philox_llama3_70b --policies sequential,concurrent,carve_out\n"
          "  warpfold layer llama3_70b --gpu h200_sxm\n";
  return text;
}

}  // namespace

Outcome<void> dispatch(const std::string& name, Invocation invocation) {
  if (name == "--help" || name == "-h" || (name == "help" && invocation.arguments.empty())) return write_output("", usage());
  if (name == "--version") return write_output("", "warpfold " WARPFOLD_VERSION "\n");
  if (name == "help") return dispatch(invocation.arguments.front(), {{"--help"}, invocation.command_line});
  std::vector<std::string> known;
  for (const Subcommand& command : kSubcommands) {
    if (command.name == name) return run(command, invocation);
    known.emplace_back(command.name);
  }
  if (name.starts_with('-')) return user_error("unknown option " + name + suggestion(name, {"--help", "--version"}));
  return user_error("unknown command " + escape::quoted(name) + suggestion(name, known));
}

Outcome<std::string> answer(const std::vector<std::string>& words) {
  if (words.empty()) return user_error("a command is missing; see warpfold --help");
  std::ostringstream text;
  const StandardOutput captured(text);
  if (auto done = dispatch(words.front(), {{words.begin() + 1, words.end()}, command_line("warpfold", words)}); !done)
    return std::unexpected(done.error());
  return text.str();
}

}  // namespace warpfold::cli
