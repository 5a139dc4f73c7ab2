#include "tools/warpfold/run/minimal_scenario.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/escape/text_format.h"
#include "configs/gpu.pb.h"
#include "configs/load.h"
#include "configs/read_file.h"
#include "configs/search_path.h"
#include "isa/architecture.h"
#include "traces/import/listed_sections.h"
#include "traces/import/listing.h"
#include "traces/trace_file.h"

namespace warpfold::cli {

namespace {

// Returns the name of a GPU whose file states the architecture.
std::string gpu_of(const std::string& architecture) {
  for (const std::filesystem::path& file : configs::config_files("gpus")) {
    const auto text = read_file(file.string());
    configs::Gpu gpu;
    if (text && configs::parse_text(file.string(), *text, gpu) && gpu.architecture() == architecture) return file.stem().string();
  }
  return "h100_sxm";
}

std::string field(const std::string& name, const std::string& text) { return name + ": " + escape::text_format(text); }

// Returns the architecture that the header of a trace of Accel-Sim's tracer states; empty if the file has none.
std::string recorded_architecture(const std::string& path) {
  constexpr std::string_view kKey = "binary version = ";
  const auto text = read_file(path);
  const size_t at = text ? text->find(kKey) : std::string::npos;
  if (at == std::string::npos) return "";
  const std::string_view number = std::string_view(*text).substr(at + kKey.size());
  return "sm_" + std::string(number.substr(0, number.find_first_not_of("0123456789")));
}

std::string scenario_of(const std::string& name, const std::string& architecture, const std::string& workload) {
  return field("name", name) + " " + field("gpu_file", gpu_of(architecture)) + " kernel { " + field("name", name) + " " + workload +
         " } policy { kind: SEQUENTIAL }";
}

}  // namespace

std::string minimal_scenario(FileKind kind, const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  if (kind == FileKind::kRecorded) {
    const std::string imported = stem + ".wft";
    return "; after warpfold import-trace " + escape::path(path) + " --output " + escape::path(imported) +
           " this file is one: " + scenario_of(stem, recorded_architecture(path), "trace { " + field("path", imported) + " }");
  }
  if (kind == FileKind::kTrace) {
    const auto kernels = traces::read_trace(path);
    if (!kernels || kernels->empty()) return "";
    const traces::Kernel& kernel = kernels->front();
    const std::string choice = kernels->size() > 1 ? " " + field("kernel", kernel.name) : "";
    return "; this file is one: " + scenario_of(stem, kernel.architecture, "trace { " + field("path", path) + choice + " }");
  }
  if (kind != FileKind::kListing) return "";
  const auto text = read_file(path);
  const auto compiled_for = text ? sass::architectures_of(*text) : std::vector<std::string>();
  const std::string architecture = compiled_for.empty() ? "sm_90" : compiled_for.front();
  const auto known = isa::Architecture::find(architecture);
  const auto listing = known && text ? sass::read_listing(path, *text, **known, architecture) : fail("");
  const bool several = listing && listing->functions.size() > 1;
  const std::string function = several ? field("function", listing->functions.front().name) + " " : "";
  return "; this file is one, with the kernel's own grid and block: " +
         scenario_of(stem, architecture,
                     "listing { " + field("path", path) + " description { " + function + field("architecture", architecture) +
                         " grid { x: 132 } block { x: 128 } } }");
}

}  // namespace warpfold::cli
