#include "support.h"

#include <stdexcept>

#include "configs/read_file.h"
#include "isa/architecture.h"
#include "tests/source_dir.h"

namespace warpfold::sass {

std::string data_file(const std::string& name) {
  const std::string root = WARPFOLD_SOURCE_DIR;
  return root + (name.find('/') != std::string::npos ? "/" : "/tests/import/data/") + name;
}

Expected<Imported> import_files(const std::string& listing, const std::string& launch, const std::vector<std::string>& settings) {
  configs::Places places;
  const auto description = configs::load_kernel_launch(data_file(launch), settings, &places);
  if (!description) return std::unexpected(description.error());
  return import_listing(listing, read_file(data_file(listing)).value(), *description, places);
}

Expected<Imported> import_lines(const std::string& lines, const std::string& launch) {
  configs::KernelLaunch description;
  if (auto parsed = configs::parse_text("launch.textproto", launch, description); !parsed) return std::unexpected(parsed.error());
  return import_listing("kernel.sass", ".text.kernel:\n" + lines, description, {});
}

std::string message_of(const Expected<Imported>& imported) { return imported ? "no failure" : imported.error().text(); }

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
  executed->warp.emplace_back(executed->launch, std::array<uint32_t, 3>{cta, 0, 0}, 0, 64);
  Warp& warp = executed->warp.front();
  warp.extents = {ctas - cta, 1, 1, 1, 1, 1, 1, 1};
  for (size_t i = 0; i < registers.size(); ++i) warp.state.registers[i] = Word::of(registers[i]);
  for (const Op& op : executed->ops) {
    if (op.execute == nullptr) throw std::runtime_error("not executed: " + op.instruction->mnemonic);
    op.execute(warp, op, kAllLanes);
  }
  return executed;
}

}  // namespace warpfold::sass
