#include "sim/power/events.h"

#include <numeric>
#include <string_view>

#include "sim/analytic/demand.h"
#include "sim/memory/memory_share.h"

namespace warpfold::sim {
namespace {

using isa::Pipe;

constexpr double kPicojoule = 1e-12;

uint64_t dram_bytes_of(const traces::Kernel& kernel, const Demand& chip) {
  uint64_t bytes = 0;
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    const traces::MemoryStream& stream = kernel.streams[s];
    const double share = SpreadShare(stream.dram_numerator, stream.dram_denominator).share();
    for (const double moved : {chip.stream_read_bytes[s], chip.stream_written_bytes[s]})
      bytes += static_cast<uint64_t>(moved * share);
  }
  return bytes;
}

// Returns the energy of a warp instruction of the pipe, beyond the energy that every warp instruction takes.
double pipe_pj(const configs::EventEnergy& energy, Pipe pipe) {
  switch (pipe) {
    case Pipe::kAlu:
      return energy.alu_pj();
    case Pipe::kFmaHeavy:
    case Pipe::kFmaLite:
      return energy.fma_pj();
    case Pipe::kFp16:
      return energy.fp16_pj();
    case Pipe::kFp64:
      return energy.fp64_pj();
    case Pipe::kXu:
      return energy.xu_pj();
    case Pipe::kUniform:
      return energy.uniform_pj();
    case Pipe::kMemory:
    case Pipe::kTensorMemory:
      return energy.memory_pj();
    case Pipe::kNone:
    case Pipe::kTensor:
    case Pipe::kWgmma:
    case Pipe::kTcgen05:
      return 0;
  }
  return 0;
}

}  // namespace

Expected<PowerEvents> events_of(const Spec& spec, const traces::Kernel& kernel) {
  const auto image = make_image(spec, kernel);
  if (!image) return std::unexpected(image.error());
  const KernelDemand demand = demand_of(spec, *image);
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  Demand chip;
  for (size_t c = 0; c < demand.of_cta.size(); ++c) chip.add(demand.of_cta[c], ctas[c]);
  PowerEvents events;
  events.instructions = chip.instructions;
  events.pipe_instructions = chip.pipe_instructions;
  events.register_reads = std::reduce(chip.register_reads.begin(), chip.register_reads.end());
  events.tensor_operations = chip.tensor_operations;
  events.shared_memory_bytes = (chip.wavefronts + chip.wgmma_quarter_wavefronts / 4 + chip.tcgen05_wavefronts) * kWavefrontBytes;
  events.l2_bytes = static_cast<uint64_t>(chip.l2_read_bytes + chip.bytes_out);
  events.dram_bytes = dram_bytes_of(kernel, chip);
  return events;
}

std::string_view energy_use_name(EnergyUse use) {
  using enum EnergyUse;
  static constexpr auto kNames = by_enum<EnergyUse, std::string_view>({{kInstructions, "instructions"},
                                                                       {kRegisters, "registers"},
                                                                       {kTensor, "tensor"},
                                                                       {kSharedMemory, "shared_memory"},
                                                                       {kL2, "l2"},
                                                                       {kDram, "dram"}});
  return kNames[static_cast<size_t>(use)];
}

double Energy::at_core_voltage() const { return std::reduce(joules.begin(), joules.end()) - dram(); }

void Energy::add(const Energy& other) {
  for (size_t u = 0; u < joules.size(); ++u) joules[u] += other.joules[u];
}

Energy energy_of(const configs::EventEnergy& per_event, const PowerEvents& events) {
  Energy energy;
  const auto take = [&energy](EnergyUse use, double count, double pj) {
    energy.joules[static_cast<size_t>(use)] += count * pj * kPicojoule;
  };
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  take(EnergyUse::kInstructions, number(events.instructions), per_event.warp_instruction_pj());
  for (size_t p = 0; p < events.pipe_instructions.size(); ++p)
    take(EnergyUse::kInstructions, number(events.pipe_instructions[p]), pipe_pj(per_event, static_cast<Pipe>(p)));
  take(EnergyUse::kRegisters, number(events.register_reads), per_event.register_read_pj());
  const std::array per_operation{per_event.tensor_16_bit_pj(), per_event.tensor_8_bit_pj(), per_event.tensor_4_bit_pj()};
  for (size_t w = 0; w < per_operation.size(); ++w) take(EnergyUse::kTensor, number(events.tensor_operations[w]), per_operation[w]);
  take(EnergyUse::kSharedMemory, number(events.shared_memory_bytes), per_event.shared_memory_byte_pj());
  take(EnergyUse::kL2, number(events.l2_bytes), per_event.l2_byte_pj());
  take(EnergyUse::kDram, number(events.dram_bytes), per_event.dram_byte_pj());
  return energy;
}

}  // namespace warpfold::sim
