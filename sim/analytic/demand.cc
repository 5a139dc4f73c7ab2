#include "sim/analytic/demand.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/memory/memory_share.h"
#include "sim/sm/register_ports.h"

namespace warpfold::sim {
namespace {

using isa::Behaviour;
using isa::Pipe;

uint64_t round_up_divide(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// Returns the requests of the instruction to the memory stage shared by the SM.
uint64_t requests_of(const MicroOp& op) { return op.behaviour == Behaviour::kLoadConstant ? op.wavefronts : 1; }

uint64_t wavefronts_of(const MicroOp& op) {
  if (op.behaviour == Behaviour::kLoadConstant) return 0;
  return op.behaviour == Behaviour::kBulkStore ? round_up_divide(op.bytes, kWavefrontBytes) : op.wavefronts;
}

uint64_t wgmma_wavefronts_of(const Spec& spec, const MicroOp& op) {
  return (op.a_elsewhere ? 0 : spec.wgmma_a_wavefronts) + round_up_divide(op.columns, spec.wgmma_columns_per_b_wavefront);
}

std::optional<AccessKind> kind_of(const MicroOp& op) {
  switch (op.behaviour) {
    case Behaviour::kLoadGlobal:
      return AccessKind::kGlobalLoad;
    case Behaviour::kStoreGlobal:
      return AccessKind::kGlobalStore;
    case Behaviour::kCopyAsync:
      return AccessKind::kCopyAsync;
    case Behaviour::kBulkLoad:
      return AccessKind::kBulkLoad;
    case Behaviour::kBulkStore:
      return AccessKind::kBulkStore;
    case Behaviour::kLoadShared:
      return AccessKind::kSharedLoad;
    case Behaviour::kStoreShared:
      return AccessKind::kSharedStore;
    case Behaviour::kLoadMatrix:
      return AccessKind::kLoadMatrix;
    case Behaviour::kShuffle:
      return AccessKind::kShuffle;
    default:
      return std::nullopt;  // barriers, constants
  }
}

// Counts one warp's program. Each loop is walked twice: once for its first pass and once for all later passes. The
// content of the register-file cache at the end of a pass depends on that pass alone, so all later passes read the
// same registers.
class Walk {
 public:
  Walk(const Spec& spec, const KernelImage& image, const Program& program, const traces::CtaClass& values, Demand& demand)
      : spec_(spec), image_(image), program_(program), values_(values), demand_(demand), ports_(spec) {
    demand_.stream_read_bytes.resize(image.kernel->streams.size());
    demand_.stream_written_bytes.resize(image.kernel->streams.size());
    demand_.stream_requests.resize(image.kernel->streams.size());
  }

  void run(uint64_t warps) { pass(0, static_cast<uint32_t>(program_.ops.size() - 1), -1, warps); }

 private:
  void pass(uint32_t begin, uint32_t end, int depth, uint64_t times) {
    for (uint32_t i = begin; i <= end; ++i) {
      const auto& starting = program_.begins_at[i];
      const auto inner = std::ranges::find_if(starting, [&](uint32_t l) { return program_.loops[l].depth > depth; });
      if (inner == starting.end()) {
        count(program_.ops[i], times);
        count_tensor_operations(i, times);
        continue;
      }
      const LoopSpan& loop = program_.loops[*inner];
      const uint64_t trips = traces::trips(loop.trips, values_);
      if (trips > 0) pass(loop.begin, loop.end, loop.depth, times);
      if (trips > 1) pass(loop.begin, loop.end, loop.depth, times * (trips - 1));
      i = loop.end;
    }
  }

  void count_tensor_operations(uint32_t i, uint64_t times) {
    const TensorOperations operations = tensor_operations(spec_.architecture->info(*program_.sources[i]), program_.ops[i]);
    demand_.tensor_operations[static_cast<size_t>(operations.width)] += times * operations.count;
  }

  void count(const MicroOp& op, uint64_t times) {
    demand_.instructions += times;
    demand_.pipe_instructions[static_cast<size_t>(op.pipe)] += times;
    if (op.pipe == Pipe::kMemory) {
      count_memory(op, times);
    } else if (op.pipe == Pipe::kWgmma) {
      demand_.wgmma_quarter_cycles += times * spec_.wgmma_cycles(op.columns);
      demand_.wgmma_quarter_wavefronts += times * wgmma_wavefronts_of(spec_, op);
      count_operands(AccessKind::kWgmmaOperand, wgmma_wavefronts_of(spec_, op), times);
    } else if (op.pipe == Pipe::kTcgen05) {
      if (op.behaviour == Behaviour::kTcgen05Commit) return;
      demand_.tcgen05_cycles += times * tcgen05_cycles(spec_, op);
      demand_.tcgen05_wavefronts += times * tcgen05_wavefronts(spec_, op);
      count_operands(AccessKind::kTcgen05Operand, tcgen05_wavefronts(spec_, op), times);
    } else if (op.pipe != Pipe::kNone) {
      demand_.pipe_cycles[static_cast<int>(op.pipe)] += times * op.interval;
      if (op.blocks_lite) demand_.pipe_cycles[static_cast<int>(Pipe::kFmaLite)] += times * op.interval;
      count_reads(op, times);
    }
  }

  void count_reads(const MicroOp& op, uint64_t times) {
    if (op.behaviour != Behaviour::kFixedLatency || op.source_count == 0) return;
    const RegisterPorts::PerBank reads = ports_.collect(op, 0);
    for (size_t bank = 0; bank < reads.size(); ++bank) demand_.register_reads[bank] += times * reads[bank];
  }

  void count_memory(const MicroOp& op, uint64_t times) {
    demand_.memory_requests += times * requests_of(op);
    demand_.wavefronts += times * wavefronts_of(op);
    count_access(op, times);
    demand_.bulk_loads += op.behaviour == Behaviour::kBulkLoad ? times : 0;
    if (!op.global) return;
    const double moving = static_cast<double>(times) * (1 - in_l1(op));
    const uint64_t bytes = moved(op, op.bytes);
    const auto moved_bytes = static_cast<double>(bytes);
    (writes_memory(op) ? demand_.bytes_out : demand_.bytes_in) += moving * moved_bytes;
    if (!writes_memory(op)) demand_.l2_read_bytes += moving * static_cast<double>(bytes / op.multicast);
    (writes_memory(op) ? demand_.l2_write_work : demand_.l2_read_work) += moving * static_cast<double>(moved(op, op.l2_bytes));
    if (op.stream < 0) return;
    const auto stream = static_cast<size_t>(op.stream);
    (writes_memory(op) ? demand_.stream_written_bytes : demand_.stream_read_bytes)[stream] += moving * moved_bytes;
    demand_.stream_requests[stream][static_cast<uint32_t>(bytes)] += times;
  }

  void count_access(const MicroOp& op, uint64_t times) {
    const std::optional<AccessKind> kind = kind_of(op);
    if (!kind) return;
    AccessCounts& counts = demand_.accesses[static_cast<size_t>(*kind)];
    counts.requests += times;
    counts.wavefronts += times * wavefronts_of(op);
    counts.excess_wavefronts += times * op.extra_wavefronts;
    if (!op.global) return;
    counts.bytes += times * op.bytes;
    counts.l1_bytes += static_cast<double>(times) * (op.bytes - (1 - in_l1(op)) * static_cast<double>(moved(op, op.bytes)));
  }

  void count_operands(AccessKind kind, uint64_t wavefronts, uint64_t times) {
    AccessCounts& counts = demand_.accesses[static_cast<size_t>(kind)];
    counts.requests += times;
    counts.wavefronts += times * wavefronts;
  }

  // Returns how many of a request's `bytes` go to L2 unless L1 serves it whole.
  uint64_t moved(const MicroOp& op, uint64_t bytes) const {
    return op.stream < 0 ? bytes : traces::moved_bytes(image_.kernel->streams[static_cast<size_t>(op.stream)], bytes);
  }

  // Returns the share of requests that L1 serves whole.
  double in_l1(const MicroOp& op) const {
    if (op.stream < 0) return 0;
    const traces::MemoryStream& stream = image_.kernel->streams[static_cast<size_t>(op.stream)];
    return SpreadShare(stream.l1_numerator, stream.l1_denominator).share();
  }

  const Spec& spec_;
  const KernelImage& image_;
  const Program& program_;
  const traces::CtaClass& values_;
  Demand& demand_;
  RegisterPorts ports_;
};

bool waits_for_wgmma(const Program& program) {
  bool open = false;
  for (const MicroOp& op : program.ops) {
    if (op.behaviour == Behaviour::kWgmma) open = true;
    if (op.behaviour == Behaviour::kWgmmaWait && op.count == 0) open = false;
  }
  return !open;
}

LargestRequest largest_of(const Spec& spec, const KernelImage& image) {
  LargestRequest largest;
  for (const Program& program : image.programs) {
    largest.wgmma_waited_for = largest.wgmma_waited_for && waits_for_wgmma(program);
    for (const MicroOp& op : program.ops) {
      uint64_t& interval = largest.pipe_cycles[static_cast<int>(op.pipe)];
      interval = std::max<uint64_t>(interval, op.interval);
      if (op.pipe == Pipe::kWgmma) {
        largest.wgmma_cycles = std::max<uint64_t>(largest.wgmma_cycles, spec.wgmma_cycles(op.columns));
        largest.wgmma_wavefronts = std::max(largest.wgmma_wavefronts, wgmma_wavefronts_of(spec, op));
      }
      if (op.behaviour == Behaviour::kTcgen05Mma || op.behaviour == Behaviour::kTcgen05Copy) {
        largest.tcgen05_cycles = std::max<uint64_t>(largest.tcgen05_cycles, tcgen05_cycles(spec, op));
        largest.tcgen05_wavefronts = std::max<uint64_t>(largest.tcgen05_wavefronts, tcgen05_wavefronts(spec, op));
      }
      if (op.pipe != Pipe::kMemory) continue;
      largest.wavefronts = std::max(largest.wavefronts, wavefronts_of(op));
      uint64_t& bytes = op.behaviour == Behaviour::kBulkLoad ? largest.bulk_bytes : largest.bytes_in;
      if (op.global && !writes_memory(op)) bytes = std::max<uint64_t>(bytes, op.bytes);
    }
  }
  return largest;
}

}  // namespace

std::string_view access_name(AccessKind kind) {
  using enum AccessKind;
  constexpr auto kNames = by_enum<AccessKind, std::string_view>({{kGlobalLoad, "global_load"},
                                                                 {kGlobalStore, "global_store"},
                                                                 {kCopyAsync, "copy_async"},
                                                                 {kBulkLoad, "bulk_load"},
                                                                 {kBulkStore, "bulk_store"},
                                                                 {kSharedLoad, "shared_load"},
                                                                 {kSharedStore, "shared_store"},
                                                                 {kLoadMatrix, "load_matrix"},
                                                                 {kShuffle, "shuffle"},
                                                                 {kWgmmaOperand, "wgmma_operand"},
                                                                 {kTcgen05Operand, "tcgen05_operand"}});
  return kNames[static_cast<size_t>(kind)];
}

void Demand::add(const Demand& other, uint64_t times) {
  const auto factor = static_cast<double>(times);
  instructions += other.instructions * times;
  for (size_t p = 0; p < pipe_cycles.size(); ++p) {
    pipe_instructions[p] += other.pipe_instructions[p] * times;
    pipe_cycles[p] += other.pipe_cycles[p] * times;
  }
  for (size_t w = 0; w < tensor_operations.size(); ++w) tensor_operations[w] += other.tensor_operations[w] * times;
  wgmma_quarter_cycles += other.wgmma_quarter_cycles * times;
  wgmma_quarter_wavefronts += other.wgmma_quarter_wavefronts * times;
  tcgen05_cycles += other.tcgen05_cycles * times;
  tcgen05_wavefronts += other.tcgen05_wavefronts * times;
  for (size_t b = 0; b < register_reads.size(); ++b) register_reads[b] += other.register_reads[b] * times;
  for (size_t a = 0; a < accesses.size(); ++a) {
    accesses[a].requests += other.accesses[a].requests * times;
    accesses[a].bytes += other.accesses[a].bytes * times;
    accesses[a].l1_bytes += other.accesses[a].l1_bytes * factor;
    accesses[a].wavefronts += other.accesses[a].wavefronts * times;
    accesses[a].excess_wavefronts += other.accesses[a].excess_wavefronts * times;
  }
  memory_requests += other.memory_requests * times;
  wavefronts += other.wavefronts * times;
  bulk_loads += other.bulk_loads * times;
  bytes_in += other.bytes_in * factor;
  bytes_out += other.bytes_out * factor;
  l2_read_bytes += other.l2_read_bytes * factor;
  l2_read_work += other.l2_read_work * factor;
  l2_write_work += other.l2_write_work * factor;
  for (auto* bytes : {&stream_read_bytes, &stream_written_bytes}) bytes->resize(other.stream_read_bytes.size());
  stream_requests.resize(other.stream_requests.size());
  for (size_t s = 0; s < other.stream_read_bytes.size(); ++s) {
    stream_read_bytes[s] += other.stream_read_bytes[s] * factor;
    stream_written_bytes[s] += other.stream_written_bytes[s] * factor;
    for (const auto& [bytes, requests] : other.stream_requests[s]) stream_requests[s][bytes] += requests * times;
  }
}

KernelDemand demand_of(const Spec& spec, const KernelImage& image) {
  KernelDemand demand;
  demand.largest = largest_of(spec, image);
  for (const traces::CtaClass& values : image.kernel->cta_classes) {
    Demand& cta = demand.of_cta.emplace_back();
    for (size_t role = 0; role < image.programs.size(); ++role) {
      Walk(spec, image, image.programs[role], values, cta).run(image.kernel->roles[role].warps);
    }
  }
  return demand;
}

}  // namespace warpfold::sim
