// What takes energy in a kernel, counted from its rolled program: no count depends on the clock.
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
  std::array<uint64_t, isa::kPipes> pipe_instructions{};                // the same by isa::Pipe
  uint64_t register_reads = 0;                                          // warp-wide, through the ports of the register file
  std::array<uint64_t, enum_size<OperandWidth>()> tensor_operations{};  // by OperandWidth
  uint64_t shared_memory_bytes = 0;                                     // passes through the data stage, 128 bytes each
  uint64_t l2_bytes = 0;                                                // read and written; a multicast load counts once
  uint64_t dram_bytes = 0;
};

// Of the whole launch. Fails where a CTA can never fit or the kernel is for another architecture.
Expected<PowerEvents> events_of(const Spec& spec, const traces::Kernel& kernel);

// Who takes energy, besides what a GPU takes that does nothing.
enum class EnergyUse : uint8_t { kInstructions, kRegisters, kTensor, kSharedMemory, kL2, kDram };
std::string_view energy_use_name(EnergyUse use);  // as results call it: "shared_memory"

// Energy at a voltage of 1, in joules.
struct Energy {
  std::array<double, enum_size<EnergyUse>()> joules{};

  double dram() const { return joules[static_cast<size_t>(EnergyUse::kDram)]; }
  double at_core_voltage() const;  // all but DRAM's
  void add(const Energy& other);
};
Energy energy_of(const configs::EventEnergy& per_event, const PowerEvents& events);

}  // namespace warpfold::sim
