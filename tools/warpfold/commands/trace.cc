#include <functional>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/near_miss.h"
#include "isa/architecture.h"
#include "isa/control_code_assigner.h"
#include "tools/warpfold/commands/trace_verbs.h"
#include "tools/warpfold/render/trace_tables.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/kernels.h"
#include "tools/warpfold/run/tile_tuner.h"
#include "traces/trace_file.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

}  // namespace

void add_kernel_option(Options& options) {
  options.add()("kernel", po::value<std::string>()->value_name("NAME"), "only this kernel");
}

Outcome<std::vector<traces::Kernel>> chosen_kernels(const Options& options, Outcome<std::vector<traces::Kernel>> read) {
  if (!read || !options.has("kernel")) return read;
  const std::string name = options.text("kernel");
  std::vector<std::string> known;
  for (traces::Kernel& kernel : *read) {
    known.push_back(kernel.name);
    if (kernel.name == name) return std::vector<traces::Kernel>{std::move(kernel)};
  }
  return user_error("--kernel: no kernel called " + escape::quoted(name) + suggestion(name, known));
}

Outcome<std::vector<traces::Kernel>> source_kernels(const std::string& file, const std::vector<std::string>& settings) {
  if (check_trace_name(file)) return file_kernels(file);
  const auto found = find_of_kind(file, FileKind::kScenario, "trace write");
  if (!found) return std::unexpected(found.error());
  configs::Places places;
  auto scenario = configs::load_scenario(*found, settings, &places);
  if (!scenario) return std::unexpected(Failure(scenario.error()));
  if (const auto tuned = TileTuner().tune(*scenario); !tuned) return std::unexpected(Failure(places.located(tuned.error())));
  return scenario_kernels(*scenario, *found, places);
}

namespace {

Outcome<void> dump(const Invocation& invocation) {
  Options options("warpfold trace dump FILE [options]",
                  "Prints the kernels of a trace as text (.wfs), which reads back as the same trace.",
                  "  warpfold trace dump kernels.wft\n  warpfold trace dump kernels.wft --kernel rng --output rng.wfs\n");
  options.positional("FILE", 1, 1);
  add_kernel_option(options);
  options.add()("output,o", po::value<std::string>()->value_name("FILE"), "write to this file instead of the terminal");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const auto kernels = chosen_kernels(options, file_kernels(options.arguments().front()));
  if (!kernels) return std::unexpected(kernels.error());
  return write_output(options.text("output"), traces::format_kernels(*kernels));
}

Outcome<void> stats(const Invocation& invocation) {
  Options options("warpfold trace stats FILE [options]",
                  "Counts instructions and bytes of the kernels of a trace, without a simulation.",
                  "  warpfold trace stats kernels.wft\n  warpfold trace stats kernels.wft --by opcode --kernel rng --format csv\n");
  options.positional("FILE", 1, 1);
  add_kernel_option(options);
  options.add()("by", po::value<std::string>()->default_value("kernel")->value_name("WHAT"),
                "a row for each kernel, role, pipe, opcode, loop or stream");
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  const auto maker = trace_table(options.text("by"));
  if (!maker) return std::unexpected(maker.error());
  const auto kernels = chosen_kernels(options, file_kernels(options.arguments().front()));
  if (!kernels) return std::unexpected(kernels.error());
  return write_output(destination.path, (*maker)(*kernels).render(destination.format));
}

using BlockCheck = std::function<Outcome<void>(const traces::Block&, bool loop)>;

Outcome<void> for_each_block(const std::vector<traces::Node>& nodes, bool loop, const BlockCheck& check) {
  for (const traces::Node& node : nodes) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      if (auto checked = check(*block, loop); !checked) return checked;
    } else {
      const auto& body = std::get<traces::Loop>(node).body;
      // Only a body of a single block follows itself. In other bodies the checker sees each block alone.
      if (auto checked = for_each_block(body, body.size() == 1, check); !checked) return checked;
    }
  }
  return {};
}

// Reports dependences that the control codes leave unprotected: the hardware would read stale registers.
Outcome<void> check_control(const traces::Kernel& kernel, const std::string& file, const traces::TextPlaces& places) {
  const auto architecture = isa::Architecture::find(kernel.architecture);
  if (!architecture) return std::unexpected(Failure(architecture.error()));
  for (size_t r = 0; r < kernel.roles.size(); ++r) {
    const traces::Role& role = kernel.roles[r];
    uint64_t before = 0;  // instructions before the block
    const auto checked = for_each_block(role.body, false, [&](const traces::Block& block, bool loop) -> Outcome<void> {
      const auto broken = isa::check_control_codes(**architecture, block.code, loop);
      const uint64_t in_front = std::exchange(before, before + block.code.size());
      if (broken.empty()) return {};
      const isa::BrokenDependence& first = broken.front();
      const uint64_t number = in_front + first.consumer + 1;
      const auto at = places.find({traces::Part::kRole, r, number});
      const Diagnostic diagnostic{file, at.line, at.column,
                                  "kernel " + escape::quoted(kernel.name) + ", role " + role.name + ", instruction " +
                                      std::to_string(number) + ": " + block.code[first.consumer].mnemonic + " may issue " +
                                      std::to_string(first.given) + " cycles after " + block.code[first.producer].mnemonic +
                                      ", which has a result latency of " + std::to_string(first.needed) +
                                      "; such dependences in the block: " + std::to_string(broken.size())};
      return std::unexpected(Failure(diagnostic));
    });
    if (!checked) return checked;
  }
  return {};
}

Outcome<void> check(const Invocation& invocation) {
  Options options("warpfold trace check FILE...",
                  "Checks that traces are valid for the simulator and that control codes protect every dependence.",
                  "  warpfold trace check kernels.wft\n  warpfold trace check *.wfs\n");
  options.positional("FILE", 1, -1);
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  for (const std::string& file : options.arguments()) {
    std::vector<traces::TextPlaces> places;
    const auto kernels = file_kernels(file, &places);
    if (!kernels) return std::unexpected(kernels.error());
    for (size_t k = 0; k < kernels->size(); ++k) {
      if (auto checked = check_control((*kernels)[k], file, places[k]); !checked) return checked;
    }
    const std::string line = file + ": valid, " + report::counted(kernels->size(), "kernel") + "\n";
    if (auto written = write_output("", line); !written) return written;
  }
  return {};
}

Outcome<void> write(const Invocation& invocation) {
  Options options("warpfold trace write SOURCE --output FILE [options]",
                  "Writes the kernels of a scenario, or of another trace, to a trace file (.wft) or, as text, to a .wfs file.",
                  "  warpfold trace write qkv_philox_llama3_70b --output kernels.wft\n"
                  "  warpfold trace write scenario.textproto --set seq=4096 --kernel rng --output rng.wfs\n"
                  "  warpfold trace write edited.wfs --output edited.wft\n");
  options.positional("SOURCE", 1, 1);
  options.add_settings();
  add_kernel_option(options);
  options.add()("output,o", po::value<std::string>()->value_name("FILE"), "the file to write: .wft or .wfs");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("output")) return user_error("--output is missing; see --help");
  const std::string output = options.text("output");
  if (auto checked = check_trace_name(output); !checked) return checked;
  const auto kernels = chosen_kernels(options, source_kernels(options.arguments().front(), options.settings()));
  if (!kernels) return std::unexpected(kernels.error());
  return write_kernels(output, *kernels);
}

constexpr const char* kUsage =
    "Usage: warpfold trace dump|stats|check|write|format|slice|diff|export ...\n\n"
    "  write  write the kernels of a scenario to a trace file\n"
    "  dump   print a trace as text\n"
    "  stats  count instructions, pipes and bytes of a trace\n"
    "  check  check traces and their control codes\n"
    "  format lay out the text of traces\n"
    "  slice  write a part of kernels: a role, a loop, some CTAs\n"
    "  diff   compare two kernels, opcode by opcode or loop by loop\n"
    "  export write kernels in Accel-Sim's format\n\n"
    "warpfold trace VERB --help has the options of a verb.\n\nExamples:\n"
    "  warpfold trace write configs/scenarios/qkv_philox_llama3_70b.textproto --output kernels.wft\n"
    "  warpfold trace stats kernels.wft --by pipe\n";

}  // namespace

Outcome<void> trace_command(const Invocation& invocation) {
  if (invocation.arguments.empty())
    return user_error("trace: dump, stats, check, write, format, slice, diff or export is missing; see warpfold trace --help");
  const std::string& action = invocation.arguments.front();
  if (action == "--help" || action == "-h") return write_output("", kUsage);
  const Invocation rest{{invocation.arguments.begin() + 1, invocation.arguments.end()}, invocation.command_line};
  if (action == "dump") return dump(rest);
  if (action == "stats") return stats(rest);
  if (action == "check") return check(rest);
  if (action == "write") return write(rest);
  if (action == "format") return trace_format(rest);
  if (action == "slice") return trace_slice(rest);
  if (action == "diff") return trace_diff(rest);
  if (action == "export") return trace_export(rest);
  return user_error("unknown command " + escape::quoted("trace " + action) +
                    suggestion(action, {"dump", "stats", "check", "write", "format", "slice", "diff", "export"}));
}

}  // namespace warpfold::cli
