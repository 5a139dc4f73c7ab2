#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/text_format.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/progress.h"
#include "traces/accelsim/byte_source.h"
#include "traces/accelsim/importer.h"
#include "traces/accelsim/kernel_list.h"
#include "traces/stats.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::cli {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using traces::accelsim::ImportedKernel;
using traces::accelsim::ImportOptions;
using traces::accelsim::ListEntry;

constexpr const char* kScenario = "scenario.textproto";

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(digits);
  text << value;
  return text.str();
}

// Returns one line about an imported kernel.
std::string summary(const std::string& name, const ImportedKernel& imported, uint64_t text, double seconds) {
  const double megabytes = static_cast<double>(imported.bytes) / 1e6;
  std::string line = name + ": " + std::to_string(imported.instructions) + " instructions of " +
                     std::to_string(imported.kernel.ctas()) + " CTAs, " + fixed(megabytes, 1) + " MB at " +
                     fixed(megabytes / std::max(seconds, 1e-9), 0) + " MB/s; rolled into " + std::to_string(text) + " instructions";
  if (imported.kernel.ctas() < imported.ctas_of_grid) {
    line += "; " + std::to_string(imported.ctas_of_grid - imported.kernel.ctas()) + " CTAs of the grid have no instructions";
  }
  if (imported.kept_share < 1) line += "; reuse followed for " + fixed(100 * imported.kept_share, 3) + " % of the lines";
  if (imported.counter_waits > 0) {
    line += "; " + std::to_string(imported.counter_waits) +
            " DEPBAR of a dependence counter that the trace does not name: what is loaded is waited for where it is used";
  }
  return line + "\n";
}

// Imports a trace; shows progress on a terminal at stderr and appends its summary to `lines`.
Outcome<ImportedKernel> import_one(const std::string& path, ImportOptions options, std::string& lines) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::optional<ProgressLine> progress;
  progress.emplace(path);
  options.progress = [&](uint64_t bytes) {
    const double megabytes = static_cast<double>(bytes) / 1e6;
    progress->draw(fixed(megabytes, 0) + " MB, " + fixed(megabytes / seconds(), 0) + " MB/s");
  };
  auto imported = traces::accelsim::import_kernel(path, options);
  progress.reset();
  if (!imported) return std::unexpected(Failure(imported.error()));
  uint64_t text = 0;
  for (const traces::Role& role : imported->kernel.roles) text += traces::static_instructions(role.body);
  lines += summary(fs::path(path).filename().string(), *imported, text, seconds());
  return *std::move(imported);
}

// Returns the file of a list's entry. The list may name kernel-1.traceg although the file has been compressed since.
Outcome<std::string> file_of(const std::string& list, const ListEntry& entry) {
  const fs::path named = fs::path(list).parent_path() / entry.text;
  for (const char* more : {"", ".xz", ".gz", ".zst"}) {
    std::error_code error;
    if (const std::string path = named.string() + more; fs::exists(path, error)) return path;
  }
  return std::unexpected(Failure(
      Diagnostic{list, entry.line, 1, escape::path(named.string()) + " does not exist, nor compressed as .xz, .gz or .zst"}));
}

// Imports the kernels of a list as a scenario. Streams are numbered in the order of their first kernels in the list.
Outcome<void> import_list(const std::string& list, const std::string& folder, const std::string& gpu_file,
                          const ImportOptions& options) {
  auto source = traces::accelsim::open_source(list);
  if (!source) return std::unexpected(Failure(source.error()));
  const auto entries = traces::accelsim::read_kernel_list(list, *std::move(source));
  if (!entries) return std::unexpected(Failure(entries.error()));
  if (auto made = make_folder(folder); !made) return made;
  // A GPU's name is kept, since scenarios find it too; a GPU's file is named relative to the folder.
  std::error_code unreadable;
  const fs::path gpu =
      fs::exists(gpu_file, unreadable) ? fs::absolute(gpu_file).lexically_relative(fs::absolute(folder)) : fs::path(gpu_file);
  std::string scenario = "# Kernels of " + escape::comment(list) + ", imported by warpfold import-trace.\nname: " +
                         escape::text_format(fs::absolute(list).parent_path().filename().string()) +
                         "\ngpu_file: " + escape::text_format(gpu.string()) + "\npolicy { kind: CONCURRENT }\n";
  std::string lines;
  std::map<uint64_t, uint32_t> streams;
  uint64_t kernels = 0;
  for (const ListEntry& entry : *entries) {
    if (entry.copy) {
      scenario += "# " + escape::comment(entry.text) + "\n";
      continue;
    }
    const auto path = file_of(list, entry);
    if (!path) return std::unexpected(path.error());
    const auto imported = import_one(*path, options, lines);
    if (!imported) return std::unexpected(imported.error());
    const std::string name = "kernel-" + std::to_string(++kernels);
    if (auto written = write_kernels((fs::path(folder) / (name + ".wft")).string(), {imported->kernel}); !written) return written;
    const uint32_t stream = streams.try_emplace(imported->stream, static_cast<uint32_t>(streams.size())).first->second;
    scenario += "kernel {\n  name: " + escape::text_format(name) + "\n  stream: " + std::to_string(stream) +
                "\n  trace { path: " + escape::text_format(name + ".wft") + " }\n}\n";
  }
  if (auto written = write_output((fs::path(folder) / kScenario).string(), scenario); !written) return written;
  return write_output("", lines);
}

}  // namespace

Outcome<void> import_trace_command(const Invocation& invocation) {
  Options options(
      "warpfold import-trace LIST|TRACE --output FOLDER|FILE [options]",
      "Reads traces of Accel-Sim's tracer (NVBit) and recovers their loops. A list (kernelslist.g) becomes a folder with a\n"
      "scenario and a trace for each kernel; one trace (.traceg, .tracez or .trace, also as .xz, .gz or .zst) becomes a .wft\n"
      "or .wfs file.",
      "  warpfold import-trace traces/kernelslist.g --output imported\n"
      "  warpfold import-trace traces/kernel-1.traceg.xz --gpu a100_sxm --output rng.wft\n");
  options.positional("LIST|TRACE", 1, 1);
  options.add()("output,o", po::value<std::string>()->value_name("PATH"), "the folder, or the .wft or .wfs file, to write");
  options.add()("gpu", po::value<std::string>()->default_value("a100_sxm")->value_name("FILE"),
                "the GPU with the L1 and L2 of the addresses");
  options.add()("architecture", po::value<std::string>()->value_name("NAME"),
                "opcode table of the trace; default: the one that its header names");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("output")) return user_error("--output is missing; see --help");
  const std::string input = options.arguments().front();
  const std::string output = options.text("output");
  if (const auto recorded = find_of_kind(input, FileKind::kRecorded, "import-trace"); !recorded)
    return std::unexpected(recorded.error());
  const auto gpu = find_gpu(options.text("gpu"), "--gpu");
  if (!gpu) return std::unexpected(gpu.error());
  ImportOptions import;
  import.architecture = options.text("architecture");
  import.caches = workloads::caches_of(*gpu);
  if (fs::path(input).extension() == ".g") return import_list(input, output, options.text("gpu"), import);
  if (auto checked = check_trace_name(output); !checked) return checked;
  std::string lines;
  const auto imported = import_one(input, import, lines);
  if (!imported) return std::unexpected(imported.error());
  if (auto written = write_kernels(output, {imported->kernel}); !written) return written;
  return write_output("", lines);
}

}  // namespace warpfold::cli
