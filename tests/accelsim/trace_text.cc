#include "tests/accelsim/trace_text.h"

#include <algorithm>
#include <stdexcept>

namespace warpfold::test {
namespace {

using traces::access::CacheSpec;

void expand(const traces::Kernel& kernel, const std::vector<traces::Node>& body, const traces::CtaClass& cta_class,
            std::vector<std::string>& opcodes) {
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) opcodes.push_back(instruction.mnemonic);
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    for (uint64_t trip = traces::trips(loop.trips, cta_class); trip > 0; --trip) expand(kernel, loop.body, cta_class, opcodes);
  }
}

}  // namespace

std::string trace_header(int version, uint64_t ctas, uint64_t threads, std::string_view more) {
  std::string text = "-kernel name = sample\n-kernel id = 3\n-grid dim = (" + std::to_string(ctas) + ",1,1)\n-block dim = (" +
                     std::to_string(threads) +
                     ",1,1)\n-shmem = 1024\n-nregs = 40\n-binary version = 80\n-cuda stream id = 7\n"
                     "-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007e0000000000\n-nvbit version = 1.7\n";
  text += "-accelsim tracer version = " + std::to_string(version) + "\n";
  if (version >= 4) text += "-enable lineinfo = 0\n";
  return text.append(more).append("\n");
}

std::string thread_block(uint64_t cta, const std::vector<std::string>& warps) {
  std::string text = "#BEGIN_TB\n\nthread block = " + std::to_string(cta) + ",0,0\n\n";
  for (size_t warp = 0; warp < warps.size(); ++warp) {
    text += "warp = " + std::to_string(warp) + "\ninsts = " + std::to_string(std::ranges::count(warps[warp], '\n')) + "\n" +
            warps[warp] + "\n";
  }
  return text + "#END_TB\n\n";
}

Expected<traces::accelsim::ImportedKernel> import_text(const std::string& text, const std::string& architecture) {
  auto source = traces::accelsim::source_of("sample.traceg", text);
  if (!source) return std::unexpected(source.error());
  traces::accelsim::ImportOptions options;
  options.architecture = architecture;
  options.caches = [](uint32_t, uint32_t, uint32_t) {
    return CacheSpec{.l1_bytes = 1 << 17, .l2_bytes = 1 << 25, .sms = 108, .ctas_per_sm = 8};
  };
  return traces::accelsim::import_kernel("sample.traceg", *std::move(source), options);
}

traces::Kernel imported(const std::string& text) {
  auto made = import_text(text);
  if (!made) throw std::logic_error(made.error().text());
  return made->kernel;
}

std::vector<std::string> opcodes_of(const traces::Kernel& kernel, const traces::Role& role, const traces::CtaClass& cta_class) {
  std::vector<std::string> opcodes;
  expand(kernel, role.body, cta_class, opcodes);
  return opcodes;
}

OpcodeCounts counts_of(const traces::Kernel& kernel, const traces::Role& role, const traces::CtaClass& cta_class) {
  OpcodeCounts counts;
  for (const std::string& opcode : opcodes_of(kernel, role, cta_class)) ++counts[opcode];
  return counts;
}

}  // namespace warpfold::test
