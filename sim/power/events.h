// Energy events of a kernel, counted from its rolled program. No count depends on the clock.
#pragma once

#include <array>
#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/enum_values.h"
#include "configs/gpu.pb.h"
#include "isa/pipe.h"
#include "sim/analytic/tensor_operations.h"
#include "sim/sm/spec.h"
#include "traces/kernel.h"

namespace warpfold::sim {

struct PowerEvents {
  uint64_t instructions = 0;                                            // warp instructions
  std::array<uint64_t, isa::kPipes> pipe_instructions{};                // warp instructions by isa::Pipe
  uint64_t register_reads = 0;                                          // warp-wide reads through the ports of the register file
  std::array<uint64_t, enum_size<OperandWidth>()> tensor_operations{};  // operations by OperandWidth; a multiply-add counts as two
  uint64_t shared_memory_bytes = 0;                                     // data stage passes of 128 bytes each
  uint64_t l2_bytes = 0;                                                // bytes read and written; a multicast load counts once
  uint64_t dram_bytes = 0;
};

// Returns the events of the whole launch. Fails if a CTA can never fit on an SM, or if the kernel is for another
// architecture.
Expected<PowerEvents> events_of(const Spec& spec, const traces::Kernel& kernel);

// Consumers of energy beyond the static power of an idle GPU.
enum class EnergyUse : uint8_t { kInstructions, kRegisters, kTensor, kSharedMemory, kL2, kDram };
std::string_view energy_use_name(EnergyUse use);  // name in results, such as "shared_memory"

// Energy in joules, at a core voltage of 1.
struct Energy {
  std::array<double, enum_size<EnergyUse>()> joules{};

  double dram() const { return joules[static_cast<size_t>(EnergyUse::kDram)]; }
  double at_core_voltage() const;  // sum without DRAM
  void add(const Energy& other);
};
Energy energy_of(const configs::EventEnergy& per_event, const PowerEvents& events);

}  // namespace warpfold::sim
