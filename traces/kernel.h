#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "isa/assembler.h"
#include "isa/instruction.h"

namespace warpfold::traces {

// Straight-line code.
struct Block {
  std::vector<isa::Instruction> code;
  bool operator==(const Block&) const = default;
};

// Number of trips of a loop: a literal, or a parameter whose value each CTA class defines (ragged tiles, causal
// attention). A class may define 0 if code follows the loop in the surrounding body.
struct TripCount {
  uint64_t literal = 1;    // used if parameter is -1; at least 1
  int32_t parameter = -1;  // index into Kernel::parameters
  bool operator==(const TripCount&) const = default;
};

struct Loop;
using Node = std::variant<Block, Loop>;

// A loop, kept rolled. Its body ends with the backward branch if the compiled code has one.
struct Loop {
  TripCount trips;
  std::vector<Node> body;
  bool operator==(const Loop&) const = default;
};

// Warps of a CTA that run the same program, such as "producer", "consumer0" or "rng". Roles follow each other in warp
// order.
struct Role {
  std::string name;
  uint32_t warps = 1;
  std::vector<Node> body;  // ends with EXIT
  bool operator==(const Role&) const = default;
};

// A ring of `depth` mbarriers in the CTA's shared memory.
struct Ring {
  std::string name;          // "full", "empty"
  uint32_t depth = 1;        // number of stages
  uint32_t arrivals = 1;     // arrivals that complete a phase, in addition to the expected transaction bytes
  bool starts_free = false;  // the first round of waits succeeds at once, as for a producer that waits for empty stages
  bool operator==(const Ring&) const = default;
};

// Position of a warp in a ring (CUTLASS's PipelineState). Every warp has its own copy of every cursor.
struct Cursor {
  std::string name;
  uint32_t depth = 1;
  uint32_t start = 0;  // steps taken before the start
  bool operator==(const Cursor&) const = default;
};

// Stream of global accesses, usually to one array, with the fractions that hit L1 and go to DRAM. Deterministic
// accumulators apply the fractions. Effect::bytes, which an instruction requests, does not depend on the caches.
struct MemoryStream {
  std::string name;  // "A", "B", "C", "mask"
  bool write = false;
  // dram_numerator / dram_denominator of the bytes that go to L2 go on to DRAM; L2 serves the others.
  uint64_t dram_numerator = 0;
  uint64_t dram_denominator = 1;
  uint64_t footprint = 0;  // size in bytes of the array that the stream touches; 0: unknown
  // l1_numerator / l1_denominator of the requests of loads and LDGSTS hit L1 completely and move no bytes. Of each other
  // request, moved_numerator / moved_denominator of its Effect::bytes go to L2, and L1 serves the other bytes.
  uint64_t l1_numerator = 0;
  uint64_t l1_denominator = 1;
  uint64_t moved_numerator = 1;
  uint64_t moved_denominator = 1;
  bool operator==(const MemoryStream&) const = default;
};

// CTAs with equal trip counts.
struct CtaClass {
  std::string name;
  std::vector<uint64_t> values;  // one value for each of Kernel::parameters
  bool operator==(const CtaClass&) const = default;
};

// `count` CTAs of class `cta_class`, consecutive in launch order.
struct CtaRun {
  uint32_t cta_class = 0;
  uint64_t count = 1;
  auto operator<=>(const CtaRun&) const = default;
};

// A kernel launch: geometry, resources and rolled programs. Opcodes of the programs are resolved for `architecture`.
struct Kernel {
  std::string name;
  std::string architecture;          // "sm_90"
  std::string source;                // generator and its parameters, or the imported file
  std::vector<std::string> assumed;  // assumptions, one line each: facts that neither the source nor its launch states
  uint32_t cluster_ctas = 1;         // CTAs per thread-block cluster
  uint32_t registers_per_thread = 32;
  uint32_t shared_memory_bytes = 0;  // dynamic and static, per CTA
  // Columns of 128 lanes of 32 bits that a CTA allocates while it is resident: a power of two from 32, or 0.
  uint32_t tensor_memory_columns = 0;
  uint64_t flops = 0;  // useful floating-point operations of the whole launch; 0: unknown
  std::vector<Role> roles;
  std::vector<Ring> rings;
  std::vector<Cursor> cursors;
  std::vector<MemoryStream> streams;
  std::vector<std::string> parameters;
  std::vector<CtaClass> cta_classes;
  std::vector<CtaRun> grid;
  bool operator==(const Kernel&) const = default;

  uint32_t warps_per_cta() const;
  uint64_t ctas() const;
};

// Returns how many of a request's `bytes` go to L2 unless L1 serves the request whole: at least 1 of them.
uint64_t moved_bytes(const MemoryStream& stream, uint64_t bytes);

// Returns the kernel without name, source, assumptions and footprints. Kernels with equal behaviour compare equal in
// this form.
Kernel without_provenance(Kernel kernel);

// Returns the names to which effects of the kernel's instructions refer.
isa::EffectNames effect_names(const Kernel& kernel);

// Returns the trip count for CTAs of one class.
uint64_t trips(const TripCount& count, const CtaClass& cta_class);
// Returns the number of the launch's CTAs of each of Kernel::cta_classes.
std::vector<uint64_t> ctas_by_class(const Kernel& kernel);

// Returns the warp instructions that the whole launch issues, from the trip counts. A count beyond 64 bits saturates at
// the maximum, which validate() rejects.
uint64_t issued_instructions(const Kernel& kernel);
// Returns the warp instructions of one warp of `role` in a CTA of class `cta_class`.
uint64_t issued_instructions(const Kernel& kernel, const Role& role, const CtaClass& cta_class);

}  // namespace warpfold::traces
