#include "support.h"

#include <stdexcept>

#include "configs/read_file.h"
#include "isa/architecture.h"
#include "tests/source_dir.h"
#include "workloads/workloads.h"

namespace warpfold::sass {

std::string data_file(const std::string& name) {
  const std::string root = WARPFOLD_SOURCE_DIR;
  return root + (name.find('/') != std::string::npos ? "/" : "/tests/import/data/") + name;
}

Expected<Imported> import_files(const std::string& listing, const std::string& launch, const std::vector<std::string>& settings,
                                const access::CachesFor& caches) {
  configs::Places places;
  const auto description = configs::load_kernel_launch(data_file(launch), settings, &places);
  if (!description) return std::unexpected(description.error());
  return import_listing(listing, read_file(data_file(listing)).value(), *description, places, caches);
}

Expected<Imported> import_lines(const std::string& lines, const std::string& launch, const ImportOptions& options) {
  configs::KernelLaunch description;
  if (auto parsed = configs::parse_text("launch.textproto", launch, description); !parsed) return std::unexpected(parsed.error());
  return import_listing("kernel.sass", ".text.kernel:\n" + lines, description, {}, {}, {}, options);
}

std::string message_of(const Expected<Imported>& imported) { return imported ? "no failure" : imported.error().text(); }

std::map<std::string, uint64_t> counts_of(const std::vector<traces::Node>& body, const traces::CtaClass& cta_class) {
  std::map<std::string, uint64_t> counts;
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) counts[instruction.mnemonic] += instruction.guard.never() ? 0 : 1;
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    for (const auto& [name, count] : counts_of(loop.body, cta_class)) counts[name] += count * traces::trips(loop.trips, cta_class);
  }
  return counts;
}

std::map<std::string, uint64_t> counts_of(const traces::Kernel& kernel) {
  std::map<std::string, uint64_t> counts;
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  for (size_t c = 0; c < ctas.size(); ++c) {
    for (const traces::Role& role : kernel.roles) {
      for (const auto& [name, count] : counts_of(role.body, kernel.cta_classes[c])) counts[name] += count * ctas[c] * role.warps;
    }
  }
  return counts;
}

sim::Outcome simulated(const std::vector<const traces::Kernel*>& kernels, const configs::Gpu& gpu) {
  std::vector<sim::Launch> launches;
  for (const traces::Kernel* kernel : kernels) {
    sim::Launch launch;
    launch.kernel = kernel;
    launch.stream = static_cast<int>(launches.size());
    launches.push_back(launch);
  }
  return sim::simulate(gpu, launches).value();
}

double time_of(const traces::Kernel& kernel, const configs::Gpu& gpu) {
  return static_cast<double>(simulated({&kernel}, gpu).kernels[0].end_cycle);
}

configs::Gpu a100() { return configs::load_gpu(data_file("configs/gpus/a100_sxm.textproto")).value(); }

traces::Kernel generated(const std::string& workload) {
  configs::Kernel described;
  if (auto parsed = configs::parse_text("kernel", "name: \"generated\" " + workload, described); !parsed)
    throw std::runtime_error(parsed.error().text());
  return workloads::make_kernel(described, a100(), "").value();
}

std::unique_ptr<Executed> execute_lines(const std::string& lines, const std::vector<uint32_t>& registers, uint32_t cta,
                                        uint32_t ctas) {
  auto executed = std::make_unique<Executed>();
  const isa::Architecture& architecture = **isa::Architecture::find("sm_80");
  auto listing = read_listing("test", ".text.test:\n" + lines, architecture);
  if (!listing) throw std::runtime_error(listing.error().text());
  executed->listing = *std::move(listing);
  executed->ops = decode(executed->listing, executed->listing.functions.front(), architecture).value();
  executed->launch.grid = {ctas, 1, 1};
  executed->launch.block = {32, 1, 1};
  executed->warp.emplace_back(executed->launch, std::array<uint32_t, 3>{cta, 0, 0}, 0, 64, 63);
  Warp& warp = executed->warp.front();
  warp.extents = {ctas - cta, 1, 1, 1, 1, 1, 1, 1};
  for (size_t i = 0; i < registers.size(); ++i) warp.state.registers[i] = Word::of(registers[i]);
  for (const Op& op : executed->ops) {
    if (op.execute == nullptr) throw std::runtime_error("not executed: " + op.instruction->mnemonic);
    op.execute(warp, op, warp.guard_bits(op).lanes);
  }
  return executed;
}

}  // namespace warpfold::sass
