#include "workloads/workloads.h"

#include <google/protobuf/descriptor.h>

#include <filesystem>

#include "configs/escape/quoted.h"
#include "configs/launch_sizes.h"
#include "configs/read_file.h"
#include "traces/import/import.h"
#include "traces/trace_file.h"
#include "traces/validate.h"
#include "workloads/ampere_gemm/ampere_gemm.h"
#include "workloads/blackwell_gemm/blackwell_gemm.h"
#include "workloads/common/cta_footprint.h"
#include "workloads/common/gpu_caches.h"
#include "workloads/common/warm_l2.h"
#include "workloads/elementwise/elementwise.h"
#include "workloads/flash_attention_2/flash_attention_2.h"
#include "workloads/flash_attention_3/flash_attention_3.h"
#include "workloads/flash_attention_4/flash_attention_4.h"
#include "workloads/gemm_reduction/gemm_reduction.h"
#include "workloads/hopper_gemm/hopper_gemm.h"
#include "workloads/opaque/opaque.h"
#include "workloads/philox/philox.h"

namespace warpfold::workloads {
namespace {

std::string names_of(const std::vector<traces::Kernel>& kernels) {
  std::string names;
  constexpr size_t kMost = 400;  // characters
  for (const traces::Kernel& kernel : kernels) {
    if (names.size() > kMost) return names + ", ...";
    names += (names.empty() ? "" : ", ") + escape::unquoted(kernel.name);
  }
  return names;
}

// Path of a file that the scenario names relative to itself.
std::string beside(const std::string& scenario_file, const std::string& name) {
  return (std::filesystem::path(scenario_file).parent_path() / name).lexically_normal().string();
}

Expected<traces::Kernel> from_trace(const configs::TraceFile& trace, const std::string& scenario_file) {
  const bool is_file = trace.text().empty();
  const std::string path = is_file ? beside(scenario_file, trace.path()) : "text of kernel";
  auto kernels = is_file ? traces::read_trace(path) : traces::parse_kernels(path, trace.text());
  if (!kernels) return std::unexpected(kernels.error());
  if (!trace.has_kernel() && kernels->size() == 1) return std::move(kernels->front());
  for (traces::Kernel& kernel : *kernels) {
    if (trace.has_kernel() && kernel.name == trace.kernel()) return std::move(kernel);
  }
  const std::string wanted = trace.has_kernel() ? "no kernel " + escape::unquoted(trace.kernel()) : "name one of the kernels";
  return fail_at(path, 0, 0, wanted + "; the file has: " + names_of(*kernels));
}

Expected<traces::Kernel> from_listing(const configs::ListingFile& listing, const configs::Gpu& gpu,
                                      const std::string& scenario_file, const CacheRoom& room) {
  const std::string path = beside(scenario_file, listing.path());
  const auto text = read_file(path);
  if (!text) return fail_in("path", text.error().message);
  configs::KernelLaunch launch = listing.description();
  configs::settle_architecture(launch, gpu);
  auto imported = sass::import_listing(path, *text, launch, {}, caches_of(gpu, room));
  if (!imported) return std::unexpected(imported.error().inside("description"));
  return std::move(imported->kernel);
}

Expected<traces::Kernel> generate(const configs::Kernel& kernel, const configs::Gpu& gpu, const std::string& scenario_file,
                                  const CacheRoom& room) {
  switch (kernel.workload_case()) {
    case configs::Kernel::kPhilox:
      return make_philox(kernel.philox(), gpu);
    case configs::Kernel::kHopperGemm:
      return make_hopper_gemm(kernel.hopper_gemm(), gpu);
    case configs::Kernel::kBlackwellGemm:
      return make_blackwell_gemm(kernel.blackwell_gemm(), gpu);
    case configs::Kernel::kAmpereGemm:
      return make_ampere_gemm(kernel.ampere_gemm(), gpu);
    case configs::Kernel::kFlashAttention2:
      return make_flash_attention_2(kernel.flash_attention_2(), gpu);
    case configs::Kernel::kFlashAttention3:
      return make_flash_attention_3(kernel.flash_attention_3(), gpu);
    case configs::Kernel::kFlashAttention4:
      return make_flash_attention_4(kernel.flash_attention_4(), gpu);
    case configs::Kernel::kElementwise:
      return make_elementwise(kernel.elementwise(), gpu);
    case configs::Kernel::kGemmReduction:
      return make_gemm_reduction(kernel.gemm_reduction(), gpu);
    case configs::Kernel::kOpaque:
      return make_opaque(kernel.opaque(), gpu);
    case configs::Kernel::kTrace:
      return from_trace(kernel.trace(), scenario_file);
    case configs::Kernel::kListing:
      return from_listing(kernel.listing(), gpu, scenario_file, room);
    case configs::Kernel::WORKLOAD_NOT_SET:
      break;
  }
  return fail(
      "no workload; expected one of philox, hopper_gemm, blackwell_gemm, ampere_gemm, flash_attention_2, flash_attention_3, "
      "flash_attention_4, "
      "elementwise, gemm_reduction, opaque, trace, listing");
}

// Name of the workload's field, for example "hopper_gemm".
std::string workload_field(const configs::Kernel& kernel) {
  const auto* field = kernel.GetReflection()->GetOneofFieldDescriptor(kernel, kernel.GetDescriptor()->FindOneofByName("workload"));
  return field == nullptr ? std::string() : field->name();
}

}  // namespace

Expected<traces::Kernel> make_kernel(const configs::Kernel& kernel, const configs::Gpu& gpu, const std::string& scenario_file,
                                     const CacheRoom& room) {
  auto made = generate(kernel, gpu, scenario_file, room);
  if (!made) {
    Diagnostic problem = made.error();
    // An error in a file without line numbers is reported at the scenario's line that names the file.
    if (!problem.file.empty() && problem.line == 0) {
      problem.message = escape::path(problem.file) + ": " + problem.message;
      problem.file.clear();
      problem.path = "path";
    }
    if (problem.file.empty()) {
      problem.file = scenario_file;
      const std::string field = workload_field(kernel);
      problem.path = problem.path.empty() ? field : problem.inside(field).path;
    }
    problem.message = "kernel " + escape::unquoted(kernel.name()) + ": " + problem.message;
    return std::unexpected(std::move(problem));
  }
  made->name = kernel.name();
  if (const auto changed = apply_footprint(kernel.footprint(), *made); !changed) {
    Diagnostic problem = changed.error().inside("footprint");
    problem.message = "kernel " + escape::unquoted(kernel.name()) + ": " + problem.message;
    return std::unexpected(std::move(problem));
  }
  if (kernel.l2() == configs::WARM) warm_l2(*made, gpu.l2().bytes());
  if (auto valid = traces::validate(*made, scenario_file); !valid) {
    Diagnostic problem = valid.error();
    if (problem.line == 0) problem.path = workload_field(kernel);
    return std::unexpected(std::move(problem));
  }
  return made;
}

Expected<traces::Kernel> KernelMaker::make(const configs::Kernel& kernel, const configs::Gpu& gpu, const CacheRoom& room) {
  configs::Kernel workload = kernel;
  workload.clear_name();
  workload.clear_stream();
  workload.clear_priority();
  workload.clear_after();
  workload.clear_tensor();
  const auto text = [](const std::optional<uint64_t>& bytes) { return bytes ? std::to_string(*bytes) : "all"; };
  const std::pair key(workload.SerializeAsString(),
                      text(room.l1_bytes) + " " + text(room.l2_bytes) + " " + gpu.SerializeAsString());
  auto known = made_.find(key);
  if (known == made_.end()) {
    auto made = make_kernel(kernel, gpu, file_, room);
    if (!made) return made;
    known = made_.emplace(key, std::move(*made)).first;
  }
  traces::Kernel copy = known->second;
  copy.name = kernel.name();
  return copy;
}

}  // namespace warpfold::workloads
