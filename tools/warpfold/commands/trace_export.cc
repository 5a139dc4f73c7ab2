#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "configs/write_file.h"
#include "tools/warpfold/commands/trace_verbs.h"
#include "traces/accelsim/exporter.h"

namespace warpfold::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;

Outcome<std::pair<uint64_t, uint64_t>> cta_range(const std::string& text) {
  const auto number = [](std::string_view word, uint64_t& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size();
  };
  const std::string_view all = text;
  const size_t dash = all.find('-');
  uint64_t first = 0;
  uint64_t last = 0;
  const bool read = number(all.substr(0, dash), first) && (dash == std::string_view::npos || number(all.substr(dash + 1), last));
  if (dash == std::string_view::npos) last = first;
  if (!read || last < first) return user_error("--ctas " + text + ": expected a number or a range such as 0-15");
  return std::pair(first, last - first + 1);
}

Outcome<void> trace_export(const Invocation& invocation) {
  Options options(
      "warpfold trace export SOURCE --output FOLDER [options]",
      "Writes the kernels of a scenario or a trace in Accel-Sim's format: kernelslist.g and a .traceg file for each kernel,\n"
      "with every instruction of every warp. --ctas limits the files to a part of the grid.",
      "  warpfold trace export kernels.wft --kernel rng --output traces\n"
      "  warpfold trace export configs/scenarios/qkv_philox_small.textproto --kernel rng --ctas 0-15 --output traces\n");
  options.positional("SOURCE", 1, 1);
  options.add_settings();
  add_kernel_option(options);
  options.add()("ctas", po::value<std::string>()->value_name("FIRST-LAST"), "only these CTAs, counted from 0");
  options.add()("output,o", po::value<std::string>()->value_name("FOLDER"), "the folder to write");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("output")) return user_error("--output is missing; see --help");
  traces::accelsim::ExportOptions exported;
  if (options.has("ctas")) {
    const auto ctas = cta_range(options.text("ctas"));
    if (!ctas) return std::unexpected(ctas.error());
    std::tie(exported.first_cta, exported.ctas) = *ctas;
  }
  const auto kernels = chosen_kernels(options, source_kernels(options.arguments().front(), options.settings()));
  if (!kernels) return std::unexpected(kernels.error());
  const fs::path folder = options.text("output");
  if (auto made = make_folder(folder.string()); !made) return made;
  std::string list;
  for (const traces::Kernel& kernel : *kernels) {
    const std::string name = "kernel-" + std::to_string(exported.id) + ".traceg";
    FileWriter file((folder / name).string());
    const auto done = traces::accelsim::export_kernel(kernel, exported, [&](std::string_view text) { file.write(text); });
    if (!done) return std::unexpected(Failure(done.error()));
    if (auto written = file.commit(); !written) return cannot_write(written.error().text());
    list += name + "\n";
    ++exported.id;
  }
  return write_output((folder / "kernelslist.g").string(), list);
}

}  // namespace warpfold::cli
