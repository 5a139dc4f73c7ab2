#include "sim/sm/kernel_image.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "sim/sm/grid_barrier.h"
#include "sim/sm/segments.h"
#include "sim/sm/warp_placement.h"
#include "traces/access/lane_access.h"

namespace warpfold::sim {
namespace {

// Saturates at 32 bits, since no SM has that much of any resource.
uint32_t round_up(uint64_t value, uint32_t unit) {
  return static_cast<uint32_t>(std::min<uint64_t>((value + unit - 1) / unit * unit, std::numeric_limits<uint32_t>::max()));
}

Footprint footprint_of(const Spec& spec, const traces::Kernel& kernel) {
  Footprint footprint;
  footprint.warps = kernel.warps_per_cta();
  footprint.registers = footprint.warps * round_up(kernel.registers_per_thread * 32, spec.register_allocation_unit);
  footprint.shared_memory =
      round_up(uint64_t{kernel.shared_memory_bytes} + spec.shared_memory_reserved_per_cta, spec.shared_memory_allocation);
  footprint.tensor_memory = kernel.tensor_memory_columns;
  return footprint;
}

bool on_ring(const MicroOp& op) {
  return op.barrier >= 0 && (op.behaviour == isa::Behaviour::kMbarrierWait || op.behaviour == isa::Behaviour::kMbarrierArrive ||
                             op.behaviour == isa::Behaviour::kBulkLoad || op.behaviour == isa::Behaviour::kTcgen05Commit);
}

// Groups rings that share cursors. Rings of a group advance together, so that only their distance from each other
// matters.
void group_rings(KernelImage& image) {
  const traces::Kernel& kernel = *image.kernel;
  image.base_ring.resize(kernel.rings.size());
  std::iota(image.base_ring.begin(), image.base_ring.end(), 0);
  image.cursor_ring.assign(kernel.cursors.size(), -1);
  image.waited_once.assign(kernel.rings.size(), false);
  const auto join = [&](int one, int other) {
    const int from = std::max(image.base_ring[one], image.base_ring[other]);
    const int to = std::min(image.base_ring[one], image.base_ring[other]);
    std::ranges::replace(image.base_ring, from, to);
  };
  for (const Program& program : image.programs) {
    for (const MicroOp& op : program.ops) {
      if (!on_ring(op)) continue;
      if (op.cursor < 0) {
        if (op.behaviour == isa::Behaviour::kMbarrierWait) image.waited_once[op.barrier] = true;
        continue;
      }
      int& ring = image.cursor_ring[op.cursor];
      if (ring < 0) ring = op.barrier;
      join(ring, op.barrier);
    }
  }
  for (int& ring : image.cursor_ring) {
    if (ring >= 0) ring = image.base_ring[ring];
  }
  image.rotates.assign(kernel.rings.size(), true);
  for (const Program& program : image.programs) {
    for (const MicroOp& op : program.ops) {
      if (on_ring(op) && op.cursor < 0) image.rotates[image.base_ring[op.barrier]] = false;
    }
  }
}

// Returns the cycles for which a result keeps its bank's write path. A pipe of 32 lanes writes a row of a register in a
// cycle, one of 16 lanes half a row. The XU, of 4 lanes, is taken to gather half a row.
uint8_t result_writes(const MicroOp& op) {
  switch (op.pipe) {
    case isa::Pipe::kAlu:
    case isa::Pipe::kFmaHeavy:
    case isa::Pipe::kFmaLite:
    case isa::Pipe::kXu:
      return static_cast<uint8_t>(op.load_registers * std::min<uint16_t>(op.interval, 2));
    default:
      return 0;
  }
}

// Scales the opcode table's figures by the machine's rates and latencies.
void fit_to(const Spec& spec, Program& program) {
  for (MicroOp& op : program.ops) {
    const auto pipe = static_cast<size_t>(op.pipe);
    op.interval = static_cast<uint16_t>(spec.pipe_rate[pipe].at_rate(op.interval));
    op.result_writes = result_writes(op);
    const Factor latency = op.pipe == isa::Pipe::kMemory ? spec.memory_latency : spec.pipe_latency[pipe];
    op.result_cycles = static_cast<uint16_t>(latency.longer(op.result_cycles));
    if (op.behaviour == isa::Behaviour::kLoadConstant) {
      // Each address beyond the first takes the stage as further requests do.
      const uint32_t cycles = op.extra_wavefronts * spec.constant_address_cycles;
      op.wavefronts = static_cast<uint16_t>(1 + (cycles + spec.memory_issue_interval - 1) / spec.memory_issue_interval);
      op.extra_wavefronts = static_cast<uint16_t>(spec.memory_issue_rate.at_rate(cycles));
    } else {
      op.extra_wavefronts = static_cast<uint16_t>(spec.data_stage_rate.at_rate(op.extra_wavefronts));
    }
  }
}

// Computes the L2 time of additions. An addition takes as long as a store or load, plus its passes beyond the first
// over each sector. If the whole launch adds to few sectors, the passes over a sector follow each other at the sector's
// own rate.
//
//   28.5 passes a cycle on the chip, 3.48 cycles between two passes over the same sector: 99 sectors or more (28.5 x 3.48) keep
//   the adders busy; a lone sector gets a pass every 3.48 cycles
void take_l2_for_additions(const Spec& spec, Program& program) {
  if (spec.addition_milli_passes_per_clk == 0) return;
  for (MicroOp& op : program.ops) {
    if (op.l2_passes == 0) continue;
    const uint64_t rate = writes_memory(op) ? spec.memory.l2_write_milli_bytes_per_clk : spec.memory.l2_read_milli_bytes_per_clk;
    const uint64_t cycles = op.adds_integers ? spec.integer_addition_milli_cycles : spec.float_addition_milli_cycles;
    const uint64_t repeated = op.l2_passes - op.bytes / traces::access::kSectorBytes;
    const uint64_t by_adders = op.l2_bytes + repeated * rate / spec.addition_milli_passes_per_clk;
    const uint64_t by_sector = op.l2_sectors == 0 ? 0 : op.l2_passes * rate * cycles / (uint64_t{1'000'000} * op.l2_sectors);
    op.l2_bytes = static_cast<uint32_t>(std::max(by_adders, by_sector));
  }
}

// Adds instruction fetch to stall counts. Loops that exceed the instruction cache are fetched in every trip: a warp
// takes `instruction_line_cycles` from line to line, or the sum of the line's stall counts if that is more.
//
//   lines of 8 instructions every 25 cycles, each with a stall of 2: the stalls are 16 cycles, so the last one becomes 9 longer
void fetch_lines(const Spec& spec, Program& program) {
  constexpr uint32_t kInstructionBytes = 16;
  if (spec.instruction_cache_bytes == 0) return;
  std::vector<bool> missing(program.ops.size(), false);
  for (const LoopSpan& loop : program.loops) {  // outer before inner, since an inner loop that fits stays in the cache
    const bool fits = (loop.end - loop.begin + 1) * kInstructionBytes <= spec.instruction_cache_bytes;
    std::fill(missing.begin() + loop.begin, missing.begin() + loop.end + 1, !fits);
  }
  const uint32_t line = std::max(spec.instruction_line_bytes / kInstructionBytes, 1U);
  for (size_t first = 0; first < program.ops.size(); first += line) {
    const size_t last = std::min(first + line, program.ops.size()) - 1;
    if (!missing[first] || !missing[last]) continue;
    uint32_t stalls = 0;
    for (size_t i = first; i <= last; ++i) stalls += program.ops[i].next_after;
    if (stalls < spec.instruction_line_cycles)
      program.ops[last].next_after = static_cast<uint8_t>(program.ops[last].next_after + spec.instruction_line_cycles - stalls);
  }
}

// Sets the cycles that a loop of loads at the grid's barrier takes from a load's result to the next load: the stall counts from
// the load to the branch.
void time_polls(Program& program) {
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (!waits_at_grid(program.ops[i])) continue;
    uint32_t cycles = 0;
    for (size_t next = i; next < program.ops.size(); ++next) {
      cycles += program.ops[next].next_after;
      if (program.ops[next].behaviour == isa::Behaviour::kBranch) break;
    }
    program.ops[i].poll_cycles = static_cast<uint16_t>(std::min(cycles, uint32_t{UINT16_MAX}));
  }
}

// True if some loop of the body takes a second trip in CTAs of this class.
bool repeats_a_loop(const std::vector<traces::Node>& body, const traces::CtaClass& cta_class) {
  return std::ranges::any_of(body, [&](const traces::Node& node) {
    const auto* loop = std::get_if<traces::Loop>(&node);
    if (loop == nullptr) return false;
    const uint64_t trips = traces::trips(loop->trips, cta_class);
    return trips > 1 || (trips == 1 && repeats_a_loop(loop->body, cta_class));
  });
}

bool couples_warps(const MicroOp& op) {
  switch (op.behaviour) {
    case isa::Behaviour::kBarrierSync:
    case isa::Behaviour::kBarrierArrive:
    case isa::Behaviour::kMbarrierWait:
    case isa::Behaviour::kMbarrierArrive:
    case isa::Behaviour::kBulkLoad:
    case isa::Behaviour::kWgmma:
    case isa::Behaviour::kTcgen05Mma:
    case isa::Behaviour::kTcgen05Commit:
    case isa::Behaviour::kTcgen05Copy:
    case isa::Behaviour::kSetMaxRegisters:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<ResidencyLimit> residency_limits(const Spec& spec, const traces::Kernel& kernel) {
  const Footprint footprint = footprint_of(spec, kernel);
  const auto room = [&](uint32_t has, uint32_t takes) { return takes == 0 ? spec.cta_slots : has / takes; };
  const bool too_much = kernel.shared_memory_bytes > spec.shared_memory_per_cta_max;
  return {{"registers", room(spec.registers, footprint.registers)},
          {"shared_memory", too_much ? 0 : room(spec.shared_memory_bytes, footprint.shared_memory)},
          {"warp_slots", warp_slot_limit(spec, footprint.warps)},
          {"cta_slots", spec.cta_slots},
          {"tensor_memory", room(spec.tensor_memory_columns, footprint.tensor_memory)}};
}

Expected<Occupancy> occupancy_of(const Spec& spec, const traces::Kernel& kernel) {
  if (kernel.architecture != spec.architecture->name()) {
    return fail("kernel " + escape::quoted(kernel.name) + " is for " + kernel.architecture + ", the GPU is " +
                spec.architecture->name());
  }
  Occupancy alone;
  alone.footprint = footprint_of(spec, kernel);
  const std::vector<ResidencyLimit> limits = residency_limits(spec, kernel);
  const auto least = std::ranges::min_element(limits, {}, &ResidencyLimit::ctas);
  alone.ctas_per_sm = least->ctas;
  alone.limiter = least->resource;
  if (alone.ctas_per_sm == 0) {
    return fail("a CTA of kernel " + escape::quoted(kernel.name) + " can never fit: it needs " +
                std::to_string(alone.footprint.warps) + " warps, " + std::to_string(alone.footprint.registers) + " registers and " +
                std::to_string(kernel.shared_memory_bytes) + " bytes of shared memory; an SM has " +
                std::to_string(spec.warp_slots) + ", " + std::to_string(spec.registers) + " and " +
                std::to_string(spec.shared_memory_per_cta_max) + " a CTA");
  }
  return alone;
}

Expected<KernelImage> make_image(const Spec& spec, const traces::Kernel& kernel, AccountGranularity granularity) {
  auto alone = occupancy_of(spec, kernel);
  if (!alone) return std::unexpected(alone.error());
  KernelImage image;
  static_cast<Occupancy&>(image) = std::move(*alone);
  image.kernel = &kernel;
  for (size_t r = 0; r < kernel.roles.size(); ++r) {
    image.programs.push_back(compile_role(*spec.architecture, kernel.roles[r]));
    fit_to(spec, image.programs.back());
    take_l2_for_additions(spec, image.programs.back());
    fetch_lines(spec, image.programs.back());
    time_polls(image.programs.back());
    image.meets_in_grid |= std::ranges::any_of(image.programs.back().ops, arrives_at_grid);
    image.role_of_warp.insert(image.role_of_warp.end(), kernel.roles[r].warps, static_cast<int>(r));
  }
  uint32_t place = 0;
  for (Program& program : image.programs) {
    for (MicroOp& op : program.ops) op.place = place++;
  }
  image.segments = assign_segments(kernel, image.programs, granularity);
  std::ranges::for_each(image.programs, tally);
  group_rings(image);
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    image.loop_free.push_back(
        std::ranges::none_of(kernel.roles, [&](const traces::Role& role) { return repeats_a_loop(role.body, cta_class); }));
  }
  image.coupled = image.meets_in_grid || std::ranges::any_of(image.programs, [](const Program& program) {
                    return std::ranges::any_of(program.ops, couples_warps);
                  });
  return image;
}

}  // namespace warpfold::sim
