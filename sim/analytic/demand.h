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

// Kinds of access by which warp instructions reach memory.
enum class AccessKind : uint8_t {
  kGlobalLoad,
  kGlobalStore,  // stores and reductions
  kCopyAsync,    // LDGSTS: global to shared
  kBulkLoad,     // TMA load
  kBulkStore,
  kSharedLoad,
  kSharedStore,
  kLoadMatrix,
  kShuffle,
  kWgmmaOperand,    // operands that wgmma reads from shared memory
  kTcgen05Operand,  // operands that tcgen05.mma reads from shared memory
};
std::string_view access_name(AccessKind kind);

struct AccessCounts {
  uint64_t requests = 0;           // warp instructions
  uint64_t bytes = 0;              // requested of L1 and L2
  double l1_bytes = 0;             // part of bytes that L1 serves, as a mean over requests
  uint64_t wavefronts = 0;         // data stage passes; of wgmma in quarters, because four warps issue a command
  uint64_t excess_wavefronts = 0;  // part of wavefronts beyond the conflict-free minimum: bank conflicts, scattered addresses
};

// Demand of a unit of work on the machine's resources, each in the resource's own unit. It is counted from rolled
// programs and trip counts, without regard to time.
//
// L1 hits are spread evenly over the requests of a stream, regardless of the instruction. Bytes that miss L1 are
// therefore means: an instruction that a CTA executes once hits L1 in a fraction of the CTAs.
struct Demand {
  uint64_t instructions = 0;
  std::array<uint64_t, isa::kPipes> pipe_instructions{};
  std::array<uint64_t, isa::kPipes> pipe_cycles{};                      // cycles in the input latch, by isa::Pipe
  std::array<uint64_t, enum_size<OperandWidth>()> tensor_operations{};  // by OperandWidth
  uint64_t wgmma_quarter_cycles = 0;                                    // tensor core cycles; each of the four warps
                                                                        // that issue a command counts it once
  uint64_t wgmma_quarter_wavefronts = 0;                                // shared memory, counted likewise
  uint64_t tcgen05_cycles = 0;                                          // tensor core
  uint64_t tcgen05_wavefronts = 0;                                      // shared memory
  std::array<uint64_t, 2> register_reads{};  // warp-wide registers that miss the register-file cache, per bank
  std::array<AccessCounts, enum_size<AccessKind>()> accesses{};
  uint64_t memory_requests = 0;  // to the memory stage shared by the SM
  uint64_t wavefronts = 0;       // passes through the data stage of shared memory
  uint64_t bulk_loads = 0;
  double bytes_in = 0;       // read through the SM's network port
  double bytes_out = 0;      // written through the SM's network port
  double l2_read_bytes = 0;  // bytes that L2 serves: a multicast load counts once per cluster
  // Time of L2, in bytes that L2 could move in it. Additions (atomics) take more time than their bytes.
  double l2_read_work = 0;
  double l2_write_work = 0;
  // By memory stream of the kernel.
  std::vector<double> stream_read_bytes;
  std::vector<double> stream_written_bytes;
  std::vector<std::map<uint32_t, uint64_t>> stream_requests;  // number of requests, by bytes per request

  // Adds `times` times `other`.
  void add(const Demand& other, uint64_t times);
};

// Largest demand of a single instruction on each resource: an upper bound of the work still queued when the kernel's
// last warp exits.
struct LargestRequest {
  std::array<uint64_t, isa::kPipes> pipe_cycles{};
  uint64_t wgmma_cycles = 0;
  uint64_t wavefronts = 0;  // wavefronts of one request
  uint64_t wgmma_wavefronts = 0;
  uint64_t tcgen05_cycles = 0;
  uint64_t tcgen05_wavefronts = 0;
  uint64_t bytes_in = 0;  // bytes of one request other than a bulk copy
  uint64_t bulk_bytes = 0;
  bool wgmma_waited_for = true;  // every role waits for all its wgmma before it exits
};

struct KernelDemand {
  std::vector<Demand> of_cta;  // by CTA class
  LargestRequest largest;
};

KernelDemand demand_of(const Spec& spec, const KernelImage& image);

}  // namespace warpfold::sim
