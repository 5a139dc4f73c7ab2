#include "tools/warpfold/commands/trace_verbs.h"
#include "traces/slice.h"
#include "traces/validate.h"

namespace warpfold::cli {

namespace po = boost::program_options;

Outcome<void> trace_slice(const Invocation& invocation) {
  Options options("warpfold trace slice SOURCE --output FILE [options]",
                  "Writes a part of each kernel as a trace: one role, one loop of it, some CTAs.",
                  "  warpfold trace slice kernels.wft --kernel gemm --role consumer0 --loop 1.1 --output loop.wfs\n"
                  "  warpfold trace slice kernels.wft --ctas 0-131 --output wave.wft\n");
  options.positional("SOURCE", 1, 1);
  options.add_settings();
  add_kernel_option(options);
  options.add()("role", po::value<std::string>()->value_name("NAME"), "only the warps of this role");
  options.add()("loop", po::value<std::string>()->value_name("PLACE"),
                "only this loop of the role, by its name in trace stats --by loop");
  options.add()("ctas", po::value<std::string>()->value_name("FIRST-LAST"), "only these CTAs, counted from 0");
  options.add()("output,o", po::value<std::string>()->value_name("FILE"), "the file to write: .wft or .wfs");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("output")) return user_error("--output is missing; see --help");
  const std::string output = options.text("output");
  if (auto checked = check_trace_name(output); !checked) return checked;
  traces::Slice part{.role = options.text("role"), .loop = options.text("loop"), .ctas = {}};
  if (options.has("ctas")) {
    const auto ctas = cta_range(options.text("ctas"));
    if (!ctas) return std::unexpected(ctas.error());
    part.ctas = {ctas->first, ctas->second};
  }
  const std::string source = options.arguments().front();
  auto kernels = chosen_kernels(options, source_kernels(source, options.settings()));
  if (!kernels) return std::unexpected(kernels.error());
  for (traces::Kernel& kernel : *kernels) {
    auto kept = traces::slice(std::move(kernel), part);
    if (!kept) return user_error(source + ": " + kept.error().message);
    kernel = *std::move(kept);
    if (auto valid = traces::validate(kernel, source); !valid) return std::unexpected(Failure(valid.error()));
  }
  return write_kernels(output, *kernels);
}

}  // namespace warpfold::cli
