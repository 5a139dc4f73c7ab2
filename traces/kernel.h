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

// How often a loop runs: a number, or a parameter whose value each CTA class gives (ragged tiles, causal attention). A class may
// give 0 where code follows the loop in the body around it.
struct TripCount {
  uint64_t literal = 1;    // used where parameter is -1; at least 1
  int32_t parameter = -1;  // index into Kernel::parameters
  bool operator==(const TripCount&) const = default;
};

struct Loop;
using Node = std::variant<Block, Loop>;

// A loop kept as a loop. Its body ends with the branch back where the compiled code has one.
struct Loop {
  TripCount trips;
  std::vector<Node> body;
  bool operator==(const Loop&) const = default;
};

// Warps of a CTA that run the same program: "producer", "consumer0", "rng". Roles are laid out in warp order.
struct Role {
  std::string name;
  uint32_t warps = 1;
  std::vector<Node> body;  // ends with EXIT
  bool operator==(const Role&) const = default;
};

// A ring of `depth` mbarriers in the CTA's shared memory.
struct Ring {
  std::string name;          // "full", "empty"
  uint32_t depth = 1;        // stages
  uint32_t arrivals = 1;     // arrivals that complete a phase, besides the expected transaction bytes
  bool starts_free = false;  // the first pass of waits succeeds at once: a producer's wait for empty stages
  bool operator==(const Ring&) const = default;
};

// A position that a warp steps round a ring (CUTLASS's PipelineState). Every warp has its own copy of all cursors.
struct Cursor {
  std::string name;
  uint32_t depth = 1;
  uint32_t start = 0;  // steps already taken at the start
  bool operator==(const Cursor&) const = default;
};

// Where global bytes go. The shares that hit in L1 and miss in L2 are fractions, served by deterministic accumulators.
struct MemoryStream {
  std::string name;  // "A", "B", "C", "mask"
  bool write = false;
  uint64_t dram_numerator = 0;  // dram_numerator / dram_denominator of the bytes go to DRAM; the rest is served by L2
  uint64_t dram_denominator = 1;
  uint64_t footprint = 0;  // bytes of the array that the stream touches, each once; 0: not stated
  // l1_numerator / l1_denominator of the requests of loads and LDGSTS find all they ask for in L1 and move nothing. The others move
  // their Effect::bytes.
  uint64_t l1_numerator = 0;
  uint64_t l1_denominator = 1;
  bool operator==(const MemoryStream&) const = default;
};

// CTAs that share all trip counts.
struct CtaClass {
  std::string name;
  std::vector<uint64_t> values;  // one for each of Kernel::parameters
  bool operator==(const CtaClass&) const = default;
};

// `count` CTAs of class `cta_class`, consecutive in launch order.
struct CtaRun {
  uint32_t cta_class = 0;
  uint64_t count = 1;
  auto operator<=>(const CtaRun&) const = default;
};

// A kernel launch: geometry, resources and rolled programs. Programs carry resolved opcodes of `architecture`.
struct Kernel {
  std::string name;
  std::string architecture;          // "sm_90"
  std::string source;                // generator and parameters, or the file it was imported from
  std::vector<std::string> assumed;  // a line each: what neither the source nor its launch says
  uint32_t cluster_ctas = 1;         // CTAs of a thread-block cluster
  uint32_t registers_per_thread = 32;
  uint32_t shared_memory_bytes = 0;  // dynamic + static, per CTA
  // Of 128 lanes of 32 bits, per CTA, for as long as it is resident: a power of two from 32, or none.
  uint32_t tensor_memory_columns = 0;
  uint64_t flops = 0;  // useful floating-point operations of the whole launch; 0: not stated
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

// Without name, source and footprints: kernels that do the same are equal.
Kernel nameless(Kernel kernel);

// What effects of the kernel's instructions refer to.
isa::EffectNames effect_names(const Kernel& kernel);

// Value of a trip count for CTAs of one class.
uint64_t trips(const TripCount& count, const CtaClass& cta_class);
// CTAs of the launch of each of Kernel::cta_classes.
std::vector<uint64_t> ctas_by_class(const Kernel& kernel);

// Instructions that the whole launch issues, from the trip counts. Counts beyond
// 64 bits stay at the maximum, which validate() refuses.
uint64_t issued_instructions(const Kernel& kernel);
// Warp instructions of one warp of `role` in a CTA of class `cta_class`.
uint64_t issued_instructions(const Kernel& kernel, const Role& role, const CtaClass& cta_class);

}  // namespace warpfold::traces
