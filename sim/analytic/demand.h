#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "configs/enum_values.h"
#include "isa/pipe.h"
#include "sim/analytic/tensor_operations.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"
#include "sim/sm/tcgen05_unit.h"

namespace warpfold::sim {

// Ways in which a warp's instructions reach memory.
enum class AccessKind : uint8_t {
  kGlobalLoad,
  kGlobalStore,  // and reductions
  kCopyAsync,    // LDGSTS: global to shared
  kBulkLoad,     // TMA
  kBulkStore,
  kSharedLoad,
  kSharedStore,
  kLoadMatrix,
  kShuffle,
  kWgmmaOperand,    // of wgmma, read from shared memory
  kTcgen05Operand,  // of tcgen05.mma, likewise
};
std::string_view access_name(AccessKind kind);

struct AccessCounts {
  uint64_t requests = 0;  // warp instructions
  uint64_t bytes = 0;     // asked of L1 and L2
  double l1_bytes = 0;    // of them, served by L1: the mean over requests
  uint64_t wavefronts =
      0;  // of wgmma in quarters: four warps issue a command together; passes through the data stage of shared memory
  uint64_t excess_wavefronts = 0;  // of them, beyond the conflict-free minimum: bank conflicts, scattered addresses
};

// What a piece of work asks of the machine's resources, in each resource's own unit: counted from rolled programs and trip counts,
// without regard to when.
//
// L1 serves requests of a stream in an evenly spread order, whatever instructions they come from. Bytes that pass L1 are therefore
// means: an instruction that a CTA executes once hits in a share of the CTAs.
struct Demand {
  uint64_t instructions = 0;
  std::array<uint64_t, isa::kPipes> pipe_instructions{};
  std::array<uint64_t, isa::kPipes> pipe_cycles{};                      // input latch held, by isa::Pipe
  std::array<uint64_t, enum_size<OperandWidth>()> tensor_operations{};  // by OperandWidth
  uint64_t wgmma_quarter_cycles = 0;                                    // tensor core, of a command that four warps issue together
  uint64_t wgmma_quarter_wavefronts = 0;                                // shared memory, likewise
  uint64_t tcgen05_cycles = 0;                                          // tensor core
  uint64_t tcgen05_wavefronts = 0;                                      // shared memory
  std::array<uint64_t, 2> register_reads{};  // warp-wide registers, per bank, that the register-file cache does not hold
  std::array<AccessCounts, enum_size<AccessKind>()> accesses{};
  uint64_t memory_requests = 0;  // to the SM-shared stage
  uint64_t wavefronts = 0;       // passes through the data stage of shared memory
  uint64_t bulk_loads = 0;
  double bytes_in = 0;       // through the SM's network port
  double bytes_out = 0;      // likewise
  double l2_read_bytes = 0;  // what L2 serves: a multicast load counts once for the cluster
  // Bytes that L2 could serve in the time that the kernel takes of it: additions take more than they move.
  double l2_read_work = 0;
  double l2_write_work = 0;
  // By memory stream of the kernel.
  std::vector<double> stream_read_bytes;
  std::vector<double> stream_written_bytes;
  std::vector<std::map<uint32_t, uint64_t>> stream_requests;  // how many, by their bytes

  // Adds `other`, `times` over.
  void add(const Demand& other, uint64_t times);
};

// The most that one instruction of a kernel asks of a resource: what may still be queued when its last warp has exited.
struct LargestRequest {
  std::array<uint64_t, isa::kPipes> pipe_cycles{};
  uint64_t wgmma_cycles = 0;
  uint64_t wavefronts = 0;  // of a request
  uint64_t wgmma_wavefronts = 0;
  uint64_t tcgen05_cycles = 0;
  uint64_t tcgen05_wavefronts = 0;
  uint64_t bytes_in = 0;  // of a request that is no bulk copy
  uint64_t bulk_bytes = 0;
  bool wgmma_waited_for = true;  // no role exits with a wgmma of its own unfinished
};

struct KernelDemand {
  std::vector<Demand> of_cta;  // by CTA class
  LargestRequest largest;
};

KernelDemand demand_of(const Spec& spec, const KernelImage& image);

}  // namespace warpfold::sim
