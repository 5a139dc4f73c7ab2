#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/behaviour.h"
#include "isa/pipe.h"
#include "traces/kernel.h"

namespace warpfold::isa {
class Architecture;
}

namespace warpfold::sim {

inline constexpr int kMaxLoopDepth = 8;

// One source operand for the register-file ports: `width` consecutive registers read into operand slot `slot`.
struct SourceRead {
  uint8_t reg;
  uint8_t width;
  uint8_t slot;
  bool reuse;
};
// The operand's place in a bank of the register-file cache, as a bit.
constexpr uint32_t cache_place(int bank, const SourceRead& source) { return 1U << (3 * bank + source.slot); }

// A bit for each of so many registers of a bank; no fixed-latency instruction writes more than 16.
constexpr uint16_t slots_of(uint8_t registers) { return static_cast<uint16_t>((1U << std::min<uint8_t>(registers, 16)) - 1); }

// Ports that an instruction may find taken: the pipes, with memory instructions that leave the SM apart from the others.
inline constexpr int kGlobalMemory = isa::kPipes;
inline constexpr int kPorts = isa::kPipes + 1;

// An instruction as the machine executes it: everything looked up once, nothing left to decode. What every issue looks at comes
// first, in one cache line.
struct alignas(64) MicroOp {
  isa::Behaviour behaviour = isa::Behaviour::kFixedLatency;
  isa::Pipe pipe = isa::Pipe::kNone;
  uint8_t port = 0;        // that it may find taken: its pipe, or kGlobalMemory
  uint16_t interval = 1;   // cycles that the pipe's input latch is held
  uint8_t next_after = 1;  // cycles to the warp's next issue at the earliest (stall count and yield)
  uint8_t write_counter = 7;
  uint8_t read_counter = 7;
  uint8_t wait_mask = 0;
  bool needs_check = false;   // has a condition beyond its timer: counters, barriers, groups
  bool edge = false;          // ends a loop, or the next instruction starts one, or steps a cursor without leaving the sub-core
  bool straight = false;      // nothing but a step to the next one, in the same segment: it is counted with others (Tally)
  uint8_t depth = 0;          // loops around it
  bool global = false;        // memory instruction that leaves the SM: LG throttle, long scoreboard
  bool math = false;          // has a pipe of the sub-core: neither the memory's nor wgmma's
  uint8_t result_writes = 0;  // cycles in which a result of one of the pipes ALU, FMA and XU keeps its bank's write path
  bool wide_result = false;   // of the heavy FMA pipe: a pair of registers
  bool allocates = false;     // passes the allocate stage; the others leave the control stage for a queue of their own
  // It has a condition that another warp's issue in the same cycle can undo: the last place in a queue of tensor products, the last
  // registers of a pool.
  bool may_be_taken = false;
  bool blocks_lite = false;  // holds FMA lite together with FMA heavy
  uint8_t source_count = 0;
  std::array<SourceRead, 3> sources{};
  bool narrow_sources = true;             // every source operand is one register
  bool reuses = false;                    // a source stays in the register-file cache
  std::array<uint8_t, 2> reads{};         // registers read per bank where none is in the register-file cache
  std::array<uint8_t, 2> writes{};        // result registers per bank
  std::array<uint16_t, 2> write_slots{};  // per bank: slots_of(writes)
  std::array<uint8_t, 2> written{2, 2};   // per bank: the bank if it is written; 2: it is not
  uint8_t cache_places = 0;               // of the register-file cache that the sources look at
  uint8_t write_latency = 0;              // issue to write port, fixed latency
  int16_t cursor = -1;
  uint32_t segment = 0;  // of the kernel's code: whose account it is in

  uint32_t place = 0;             // in the kernel's code, all roles one after the other: names the instruction in state keys
  uint8_t load_registers = 0;     // 32-bit registers that a load returns
  uint16_t result_cycles = 0;     // uncontended, issue to earliest consumer
  uint16_t release_cycles = 0;    // uncontended, issue to earliest overwrite of a source
  uint16_t wavefronts = 0;        // data-stage passes; of a constant load, requests of the SM-shared stage
  uint16_t extra_wavefronts = 0;  // of them, beyond the conflict-free minimum (bank conflicts)
  uint32_t bytes = 0;
  uint32_t tx_bytes = 0;
  uint32_t advance = 0;
  int16_t stream = -1;
  int16_t barrier = -1;
  uint16_t count = 0;
  uint8_t multicast = 1;
  // Of an addition in L2: its passes over a sector, 0 for anything else, and whether they are of integers.
  uint16_t l2_passes = 0;
  bool adds_integers = false;
  uint32_t l2_sectors = 0;  // that the launch adds to; 0: many
  uint32_t l2_bytes = 0;    // that L2 could move in the time that the instruction takes of it
  bool commit = false;
  uint8_t depbar_counter = 0;
  uint16_t columns = 0;    // wgmma, tcgen05.mma: N
  bool half_rows = false;  // tcgen05.mma: 64 rows, not 128
  bool pair = false;       // the same: cta_group::2
  bool narrow = false;     // the same: operands of 8 bits or fewer
  // A does not come from shared memory: wgmma from registers, tcgen05.mma from tensor memory.
  bool a_elsewhere = false;
};
static_assert(offsetof(MicroOp, segment) + sizeof(uint32_t) <= 64 && sizeof(MicroOp) == 128);

constexpr bool writes_memory(const MicroOp& op) {
  return op.behaviour == isa::Behaviour::kStoreGlobal || op.behaviour == isa::Behaviour::kBulkStore;
}

// Takes a place in the queue of the tensor cores with tensor memory.
constexpr bool queues_tcgen05(const MicroOp& op) {
  return op.behaviour == isa::Behaviour::kTcgen05Mma || op.behaviour == isa::Behaviour::kTcgen05Commit ||
         op.behaviour == isa::Behaviour::kTcgen05Copy;
}

struct LoopSpan {
  uint32_t begin = 0;
  uint32_t end = 0;  // index of the last instruction
  uint8_t depth = 0;
  traces::TripCount trips;
};

// What instructions add to the account whenever they are issued: sums over all before a place in the program, modulo 2^32, so that
// the difference of two places is what a stretch between them adds.
struct Tally {
  uint32_t waits = 0;     // cycles until the next one may issue, beyond the first; of all but branches
  uint32_t branches = 0;  // the same, of branches
  std::array<uint32_t, isa::kPipes> pipe_cycles{};
};

// A role's program: straight array of instructions with loops as spans over it.
struct Program {
  std::vector<MicroOp> ops;
  std::vector<LoopSpan> loops;                   // outer before inner
  std::vector<std::vector<uint32_t>> ends_at;    // per instruction: loops that end there, inner first
  std::vector<std::vector<uint32_t>> begins_at;  // per instruction: loops that begin there, outer first
  std::vector<Tally> tallies;                    // of what lies before each instruction, and of all
  std::vector<const isa::Instruction*> sources;  // of ops, in the role that was compiled: for deadlock reports
  // Per cursor of the kernel: this role's instructions use it.
  std::array<bool, 8> uses_cursor{};

  // The loop around an instruction that lies in `depth` others. Throws where it is in no such loop.
  const LoopSpan& loop_around(const MicroOp& op, uint32_t depth) const;
};

// Once segments and rates are known.
void tally(Program& program);

// Compiles a validated role for an architecture. The role outlives the program.
Program compile_role(const isa::Architecture& architecture, const traces::Role& role);

}  // namespace warpfold::sim
