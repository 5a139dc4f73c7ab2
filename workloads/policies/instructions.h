#pragma once

#include <variant>
#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::policies {

// Calls `visit` with every instruction of a body.
template <typename Visit>
void for_each_instruction(std::vector<traces::Node>& body, Visit visit) {
  for (traces::Node& node : body) {
    if (auto* loop = std::get_if<traces::Loop>(&node)) {
      for_each_instruction(loop->body, visit);
      continue;
    }
    for (isa::Instruction& instruction : std::get<traces::Block>(node).code) visit(instruction);
  }
}

// True for BAR.SYNC and BAR.ARV, whose effect names one of a CTA's 16 barriers. In effects of other instructions the number is a
// ring.
inline bool is_named_barrier(isa::Behaviour behaviour) {
  return behaviour == isa::Behaviour::kBarrierSync || behaviour == isa::Behaviour::kBarrierArrive;
}

inline constexpr int16_t kNamedBarriers = 16;            // per CTA; PTX ISA, "bar, barrier"
inline constexpr uint32_t kSharedMemoryAlignment = 128;  // bytes, for a TMA destination; PTX ISA, cp.async.bulk.tensor
inline constexpr uint32_t kWarpThreads = 32;

}  // namespace warpfold::policies
