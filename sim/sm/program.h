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

// A source operand as the register-file ports see it: `width` consecutive registers, read into operand slot `slot`.
struct SourceRead {
  uint8_t reg;
  uint8_t width;
  uint8_t slot;
  bool reuse;
};
// Returns the bit of the operand's entry in the register-file cache: three operand slots for each bank.
constexpr uint32_t cache_place(int bank, const SourceRead& source) { return 1U << (3 * bank + source.slot); }

// Returns one bit for each of `registers` registers of a bank, at most 16: no fixed-latency instruction writes more.
constexpr uint16_t slots_of(uint8_t registers) { return static_cast<uint16_t>((1U << std::min<uint8_t>(registers, 16)) - 1); }

// Ports that an instruction may find busy: one per pipe, and one more for memory instructions that leave the SM.
inline constexpr int kGlobalMemory = isa::kPipes;
inline constexpr int kPorts = isa::kPipes + 1;

// A decoded instruction: every table look-up is done when the program is compiled. The fields that each issue reads
// come first and fit one cache line.
struct alignas(64) MicroOp {
  isa::Behaviour behaviour = isa::Behaviour::kFixedLatency;
  isa::Pipe pipe = isa::Pipe::kNone;
  uint8_t port = 0;        // the instruction's pipe, or kGlobalMemory
  uint16_t interval = 1;   // cycles that the instruction holds the pipe's input latch
  uint8_t next_after = 1;  // least number of cycles to the warp's next issue (stall count and yield)
  uint8_t write_counter = 7;
  uint8_t read_counter = 7;
  uint8_t wait_mask = 0;
  bool needs_check = false;   // waits for more than its timer: counters, barriers, groups
  bool edge = false;          // ends a loop, precedes the start of a loop, or steps a cursor inside the sub-core
  bool straight = false;      // the warp simply steps to the next instruction, of the same segment: counted by Tally
  uint8_t depth = 0;          // number of loops around it
  bool global = false;        // memory instruction that leaves the SM; its stalls are LG throttle and long scoreboard
  bool math = false;          // uses a math pipe of the sub-core, not a unit that the SM shares
  uint8_t result_writes = 0;  // cycles that a result of ALU, FMA or XU keeps its bank's write path
  bool wide_result = false;   // the heavy FMA pipe writes a pair of registers
  bool allocates = false;     // passes the allocate stage; other instructions go from the control stage to a unit's queue
  // Another warp can make the condition false between the check and the issue: it takes the last entry of a queue of
  // tensor products, or the last registers of the CTA's pool.
  bool may_be_taken = false;
  bool blocks_lite = false;  // holds FMA lite together with FMA heavy
  uint8_t source_count = 0;
  std::array<SourceRead, 3> sources{};
  bool narrow_sources = true;             // every source operand is one register
  bool reuses = false;                    // some source operand has its reuse bit set
  std::array<uint8_t, 2> reads{};         // per bank: registers read if none is in the register-file cache
  std::array<uint8_t, 2> writes{};        // per bank: result registers
  std::array<uint16_t, 2> write_slots{};  // per bank: slots_of(writes)
  std::array<uint8_t, 2> written{2, 2};   // per bank: its number if the instruction writes it, else 2 (SubCore::last_writer_)
  uint8_t cache_places = 0;               // entries of the register-file cache that the sources look up (cache_place)
  uint8_t write_latency = 0;              // fixed latency: cycles from issue to the write port
  int16_t cursor = -1;
  uint32_t segment = 0;  // index in KernelImage::segments: the segment that the instruction is accounted to

  uint32_t place = 0;             // position in the kernel's code, role after role; identifies the instruction in state keys
  uint8_t load_registers = 0;     // 32-bit registers per thread that a load returns
  uint16_t result_cycles = 0;     // without contention: issue to earliest consumer
  uint16_t release_cycles = 0;    // without contention: issue to earliest overwrite of a source
  uint16_t wavefronts = 0;        // passes through the data stage; of a constant load, requests to the SM-shared stage
  uint16_t extra_wavefronts = 0;  // part beyond the conflict-free minimum (bank conflicts); kernel_image.cc turns it into cycles
  uint32_t bytes = 0;
  uint32_t tx_bytes = 0;
  uint32_t advance = 0;
  int16_t stream = -1;
  int16_t barrier = -1;
  uint16_t count = 0;
  uint8_t multicast = 1;
  // Atomic additions in L2: passes of the adders over sectors (0 for other instructions), and whether they add
  // integers.
  uint16_t l2_passes = 0;
  bool adds_integers = false;
  uint32_t l2_sectors = 0;   // sectors that the whole launch adds to; 0: many
  uint32_t l2_bytes = 0;     // L2 time of the instruction, as the bytes that L2 could move in that time
  uint16_t poll_cycles = 0;  // load at a grid's barrier: cycles of its loop besides the load's latency
  bool commit = false;
  uint8_t depbar_counter = 0;
  uint16_t columns = 0;    // wgmma, tcgen05.mma: N
  bool half_rows = false;  // tcgen05.mma: 64 rows, not 128
  bool pair = false;       // tcgen05.mma: cta_group::2
  bool narrow = false;     // tcgen05.mma: operands of 8 bits or fewer
  // Operand A is not in shared memory: wgmma reads it from registers, tcgen05.mma from tensor memory.
  bool a_elsewhere = false;
};
static_assert(offsetof(MicroOp, segment) + sizeof(uint32_t) <= 64 && sizeof(MicroOp) == 128);

constexpr bool writes_memory(const MicroOp& op) {
  return op.behaviour == isa::Behaviour::kStoreGlobal || op.behaviour == isa::Behaviour::kBulkStore;
}

// True if the instruction takes an entry in a queue of the tcgen05 unit.
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

// Prefix sums over a program: the amounts that all instructions before a position add to the account, modulo 2^32. The
// difference of two entries is the amount that the instructions between them add.
struct Tally {
  uint32_t waits = 0;                               // stall cycles after the issue cycle, of all instructions but branches
  uint32_t branches = 0;                            // stall cycles after the issue cycle, of branches
  std::array<uint32_t, isa::kPipes> pipe_cycles{};  // cycles that each pipe is held
};

// A role's program: a flat array of instructions, with the loops as spans over it.
struct Program {
  std::vector<MicroOp> ops;
  std::vector<LoopSpan> loops;                   // outer before inner
  std::vector<std::vector<uint32_t>> ends_at;    // per instruction: loops that end there, inner first
  std::vector<std::vector<uint32_t>> begins_at;  // per instruction: loops that begin there, outer first
  std::vector<Tally> tallies;                    // per instruction: sums over all before it; the last entry is the sum over all
  std::vector<const isa::Instruction*> sources;  // per instruction: its source in the role that was compiled; for deadlock reports
  // Per cursor of the kernel: true if an instruction of this role uses it.
  std::array<bool, 8> uses_cursor{};

  // Returns the loop at nesting depth `depth` (0: the outermost) around the instruction. Throws std::logic_error if
  // there is none.
  const LoopSpan& loop_around(const MicroOp& op, uint32_t depth) const;
};

// Fills `tallies` and MicroOp::straight. Call it after the segments and the pipes' rates are set.
void tally(Program& program);

// Compiles a validated role for an architecture. The role must outlive the program.
Program compile_role(const isa::Architecture& architecture, const traces::Role& role);

}  // namespace warpfold::sim
