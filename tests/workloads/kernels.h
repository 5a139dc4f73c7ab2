#pragma once

#include <functional>
#include <map>
#include <string>

#include "configs/load.h"
#include "isa/architecture.h"
#include "tests/source_dir.h"
#include "traces/kernel.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {

// A GPU of the repository by file name, for example "h100_sxm".
inline configs::Gpu gpu(const std::string& name) {
  return configs::load_gpu(std::string(WARPFOLD_SOURCE_DIR) + "/configs/gpus/" + name + ".textproto").value();
}

inline const isa::Architecture& architecture_of(const traces::Kernel& kernel) {
  return *isa::Architecture::find(kernel.architecture).value();
}

// Calls `visit` with every instruction of a body and how often one warp in a CTA of the class executes it.
inline void for_each_instruction(const std::vector<traces::Node>& body, const traces::CtaClass& cta_class, uint64_t times,
                                 const std::function<void(const isa::Instruction&, uint64_t)>& visit) {
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) visit(instruction, times);
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    const uint64_t trips =
        loop.trips.parameter < 0 ? loop.trips.literal : cta_class.values[static_cast<size_t>(loop.trips.parameter)];
    for_each_instruction(loop.body, cta_class, times * trips, visit);
  }
}

// Calls `visit` with every instruction of the launch and how many warps execute it, over the whole grid.
inline void for_each_instruction(const traces::Kernel& kernel,
                                 const std::function<void(const isa::Instruction&, uint64_t)>& visit) {
  for (const traces::CtaRun& run : kernel.grid) {
    for (const traces::Role& role : kernel.roles) {
      for_each_instruction(role.body, kernel.cta_classes[run.cta_class], run.count * role.warps, visit);
    }
  }
}

// Bytes that the launch moves, by stream name.
inline std::map<std::string, uint64_t> bytes_by_stream(const traces::Kernel& kernel) {
  std::map<std::string, uint64_t> bytes;
  for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.effect.stream < 0) return;
    bytes[kernel.streams[static_cast<size_t>(instruction.effect.stream)].name] += times * instruction.effect.bytes;
  });
  return bytes;
}

// Instructions of the launch whose mnemonic starts with `prefix`.
inline uint64_t issued(const traces::Kernel& kernel, const std::string& prefix) {
  uint64_t count = 0;
  for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.mnemonic.starts_with(prefix)) count += times;
  });
  return count;
}

}  // namespace warpfold::workloads
