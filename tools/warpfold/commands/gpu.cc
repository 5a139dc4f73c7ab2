#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/flat_fields.h"
#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/search_path.h"
#include "isa/architecture.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/failure_text.h"
#include "tools/warpfold/figures/tensor_rate.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;

Outcome<std::vector<fs::path>> files_of(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_regular_file(failed)) files.push_back(entry.path());
  }
  if (failed) return user_error("cannot read folder " + escape::quoted_path(folder) + ": " + failed.message());
  std::ranges::sort(files);
  return files;
}

std::string skipped_line(size_t skipped) {
  return "gpu list: skipped " + std::to_string(skipped) +
         (skipped == 1 ? " file that is no GPU file\n" : " files that are no GPU files\n");
}

// Returns the table row of a GPU file; none for a file of another kind.
Outcome<std::optional<std::vector<Cell>>> row_of(const fs::path& file) {
  if (file.extension() != ".textproto") return std::nullopt;
  if (const auto kind = kind_of_file(file.string()); kind && *kind != FileKind::kGpu) return std::nullopt;
  const auto gpu = configs::load_gpu(file.string());
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  const auto architecture = isa::Architecture::find(gpu->architecture());
  if (!architecture) return user_error(file.string() + ": " + architecture.error().message);
  return std::vector<Cell>{file.stem().string(),
                           gpu->name(),
                           gpu->architecture(),
                           uint64_t{gpu->sm_count()},
                           Cell(gpu->clock_mhz(), 0),
                           Cell(tensor_flop_per_clk(*gpu) * gpu->clock_mhz() / 1e6, 1),
                           Cell(gpu->dram().bandwidth_gb_per_s(), 0)};
}

Outcome<void> list(const Invocation& invocation) {
  Options options(
      "warpfold gpu list [FOLDER] [options]",
      "Lists the installed GPUs, or the GPUs of a folder, with the peaks of tensor cores and memory at the file's clock.\n"
      "Other files of the folder are skipped and counted on standard error. A GPU file with a mistake is named with its\n"
      "line and column; the others are listed, and the exit code is 2.",
      "  warpfold gpu list\n  warpfold gpu list my/machines --format csv\n");
  options.positional("FOLDER", 0, 1);
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  const auto files = options.arguments().empty() ? Outcome<std::vector<fs::path>>(configs::config_files("gpus"))
                                                 : files_of(options.arguments().front());
  if (!files) return std::unexpected(files.error());
  Table table({"file", "name", "arch", "SMs", "MHz", "tensor TFLOPS", "memory GB/s"});
  size_t skipped = 0;
  std::vector<Failure> broken;
  for (const fs::path& file : *files) {
    const auto row = row_of(file);
    if (!row) {
      broken.push_back(row.error());
    } else if (*row) {
      table.add(**row);
    } else {
      ++skipped;
    }
  }
  if (auto written = write_output(destination.path, table.render(destination.format)); !written) return written;
  if (skipped > 0) std::cerr << skipped_line(skipped);
  if (broken.empty()) return {};
  // One line for each broken file; the last failure ends the command.
  for (size_t b = 0; b + 1 < broken.size(); ++b) std::cerr << text_of(broken[b]) << '\n';
  return std::unexpected(broken.back());
}

Outcome<void> show(const Invocation& invocation) {
  Options options("warpfold gpu show GPU [options]", "Prints every field of a GPU, with its bases merged.",
                  "  warpfold gpu show h200_sxm\n");
  options.positional("GPU", 1, 1);
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  const auto gpu = find_gpu(options.arguments().front(), "gpu show");
  if (!gpu) return std::unexpected(gpu.error());
  Table table({"field", "value"});
  for (const configs::FlatField& field : configs::flat_fields(*gpu)) table.add({field.path, field.value});
  return write_output(destination.path, table.render(destination.format));
}

Outcome<void> diff(const Invocation& invocation) {
  Options options("warpfold gpu diff GPU GPU [options]",
                  "Prints the fields in which two GPUs differ; - marks a field that a GPU does not state.",
                  "  warpfold gpu diff h100_sxm h200_sxm\n");
  options.positional("GPU", 2, 2);
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  const auto one = find_gpu(options.arguments()[0], "gpu diff");
  if (!one) return std::unexpected(one.error());
  const auto other = find_gpu(options.arguments()[1], "gpu diff");
  if (!other) return std::unexpected(other.error());
  configs::Gpu both = *one;  // has the fields of either GPU, in the schema's order
  both.MergeFrom(*other);
  const auto values = [](const configs::Gpu& gpu) {
    std::map<std::string, std::string> result;
    for (const configs::FlatField& field : configs::flat_fields(gpu)) result[field.path] = field.value;
    return result;
  };
  auto left = values(*one);
  auto right = values(*other);
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("-") : value; };
  Table table({"field", one->name(), other->name()});
  for (const configs::FlatField& field : configs::flat_fields(both)) {
    const std::string& here = left[field.path];
    const std::string& there = right[field.path];
    if (here != there) table.add({field.path, shown(here), shown(there)});
  }
  return write_output(destination.path, table.render(destination.format));
}

struct Verb {
  std::string_view name;
  Outcome<void> (*run)(const Invocation&);
};

constexpr std::array kVerbs{Verb{"list", list}, Verb{"show", show}, Verb{"diff", diff}, Verb{"new", gpu_new}};

}  // namespace

Outcome<void> gpu_command(const Invocation& invocation) {
  const std::string usage =
      "Usage: warpfold gpu VERB [arguments]\n\n"
      "  list  the GPU files of a folder, with their peaks\n  show  every field of a GPU, with its bases merged\n"
      "  diff  the fields in which two GPUs differ\n  new   write a GPU file from a base and changed fields\n\n"
      "warpfold gpu VERB --help has the options of a verb.\n";
  if (invocation.arguments.empty()) return user_error("gpu: a verb is missing: list, show, diff or new");
  const std::string& name = invocation.arguments.front();
  if (name == "--help" || name == "-h") return write_output("", usage);
  std::vector<std::string> known;
  for (const Verb& verb : kVerbs) {
    if (verb.name == name)
      return verb.run({{invocation.arguments.begin() + 1, invocation.arguments.end()}, invocation.command_line});
    known.emplace_back(verb.name);
  }
  return user_error("gpu: unknown verb " + escape::quoted(name) + suggestion(name, known));
}

}  // namespace warpfold::cli
