#include "traces/import/import.h"

#include <chrono>
#include <optional>

#include "configs/launch_sizes.h"
#include "configs/load.h"
#include "configs/read_file.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/import_tables.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/run/disassembler.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/progress.h"
#include "workloads/common/gpu_caches.h"

namespace warpfold::cli {

namespace po = boost::program_options;

namespace {

using Clock = std::chrono::steady_clock;

Outcome<std::vector<sass::AssumedOpcode>> assumed_opcodes(const Options& options) {
  std::vector<sass::AssumedOpcode> assumed;
  for (const std::string& text : options.texts("assume")) {
    const auto parsed = sass::parse_assumed_opcode(text);
    if (!parsed) return std::unexpected(Failure(parsed.error()));
    assumed.push_back(*parsed);
  }
  return assumed;
}

}  // namespace

Outcome<void> import_command(const Invocation& invocation) {
  Options options(
      "warpfold import LISTING --launch FILE [options]",
      "Makes a kernel from a SASS listing (the text of cuobjdump -sass or nvdisasm, or a cubin, by the nvdisasm of the PATH)\n"
      "and a launch description, without a GPU. It executes the listing's integer and control instructions to find every warp's\n"
      "path, loops, addresses and barriers.\n"
      "docs/import.md has a first example.",
      "  warpfold import kernel.sass --launch kernel.textproto\n"
      "  warpfold import kernel.sass --launch kernel.textproto --output kernel.wft\n"
      "  warpfold import kernel.sass --launch kernel.textproto --function softmax --set parameter.columns.value=4096\n");
  options.positional("LISTING", 1, 1);
  options.add()("launch", po::value<std::string>()->value_name("FILE"), "the launch description")(
      "gpu", po::value<std::string>()->value_name("FILE"),
      "the GPU with the L1 and L2 of the addresses; default: each byte comes from DRAM once")(
      "function", po::value<std::string>()->value_name("NAME"), "the function, where the listing has several")(
      "assume", po::value<std::vector<std::string>>()->composing()->value_name("OPCODE=PIPE,LATENCY"),
      "time an opcode that no table has on this pipe, with this latency in cycles, such as FOO.BAR=alu,5; repeatable")(
      "all-ctas", "execute every CTA where CTAs take many different paths; default: a sample of CTAs")(
      "trust-addresses", "take the sizes of arrays, in bytes, from the accesses where these leave the stated sizes")(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
      "set a field of the launch description, such as grid.x=64; repeatable")(
      "output,o", po::value<std::string>()->value_name("FILE"), "write the kernel to this file: .wft, or .wfs for text");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("launch")) return user_error("--launch is missing: the file with grid, block and parameters; see --help");
  const std::string output = options.text("output");
  if (auto checked = check_trace_name(output); !checked && !output.empty()) return checked;

  configs::Places places;
  std::string file = options.arguments().front();
  if (const auto listing = find_of_kind(file, FileKind::kListing, "import"); !listing) return std::unexpected(listing.error());
  const auto description = find_of_kind(options.text("launch"), FileKind::kLaunch, "--launch");
  if (!description) return std::unexpected(description.error());
  auto launch = configs::load_kernel_launch(*description, options.texts("set"), &places);
  if (!launch) return std::unexpected(Failure(launch.error()));
  if (options.has("function")) launch->set_function(options.text("function"));
  auto text = read_file(file);
  if (!text) return std::unexpected(Failure(text.error()));
  if (is_cubin(*text)) {
    auto code = disassembled(file);
    if (!code) return std::unexpected(code.error());
    file = std::move(code->command);
    text = std::move(code->text);
  }
  std::optional<configs::Gpu> gpu;
  if (options.has("gpu")) {
    auto loaded = find_gpu(options.text("gpu"), "--gpu");
    if (!loaded) return std::unexpected(loaded.error());
    gpu = *std::move(loaded);
    configs::settle_architecture(*launch, *gpu);
  }
  auto assume = assumed_opcodes(options);
  if (!assume) return std::unexpected(assume.error());
  std::vector<std::string> questions;
  std::optional<ProgressLine> line(file);
  const auto draw = [&line, last = Clock::now()](uint64_t done, uint64_t ctas) mutable {
    if (Clock::now() - last < std::chrono::milliseconds(200)) return;
    last = Clock::now();
    line->draw("CTAs on different paths, " + with_thousands(std::to_string(done)) + " of " + with_thousands(std::to_string(ctas)));
  };
  const auto imported = sass::import_listing(
      file, *text, *launch, places, gpu ? workloads::caches_of(*gpu) : traces::access::CachesFor(),
      {.all_ctas = options.has("all-ctas")},
      {.questions = &questions, .assume = *std::move(assume), .progress = draw, .trust_addresses = options.has("trust-addresses")});
  line.reset();
  if (!imported) {
    if (auto written = write_output("", questions_text(questions)); !written) return written;
    return std::unexpected(Failure(imported.error()));
  }
  if (!output.empty()) {
    if (auto written = write_kernels(output, {imported->kernel}); !written) return written;
  }
  return write_output("", import_tables(*imported));
}

}  // namespace warpfold::cli
