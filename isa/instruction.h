#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::isa {

inline constexpr uint8_t kNoCounter = 7;       // no dependence counter, as encoded in the control code
inline constexpr int kDependenceCounters = 6;  // SB0..SB5 per warp
inline constexpr uint8_t kZeroRegister = 255;  // RZ / URZ: reads as zero and uses no port
inline constexpr uint8_t kTruePredicate = 7;   // PT / UPT

// Scheduling information that the compiler attaches to one instruction.
struct ControlCode {
  uint8_t stall = 1;                   // 0-15: least cycles until the warp's next instruction issues
  bool yield = false;                  // the same warp may not issue in the next cycle
  uint8_t write_counter = kNoCounter;  // dependence counter released when the result is written
  uint8_t read_counter = kNoCounter;   // dependence counter released when the sources have been read
  uint8_t wait_mask = 0;               // bit c: wait until dependence counter c is zero
  bool operator==(const ControlCode&) const = default;
};

enum class OperandKind : uint8_t {
  kRegister,          // R0..R254, RZ
  kUniformRegister,   // UR0..UR254, URZ; up to UR62 before sm_100
  kPredicate,         // P0..P6, PT
  kUniformPredicate,  // UP0..UP6, UPT
  kImmediate,         // 0x10, -1, 1.5
  kConstant,          // c[0x0][0x160]
  kMemory,            // [R2.64+UR4+0x10], desc[UR4][R2.64], gdesc[UR8]
  kOther,             // labels, special registers (SR_TID.X), dependence counters (SB0, gsb0)
};

// Operand as written, with its registers resolved.
struct Operand {
  OperandKind kind = OperandKind::kOther;
  std::string text;                       // as written, including ".reuse": "R2.reuse", "[R2.64+0x10]"
  bool destination = false;               // written (true) or read (false) by the instruction
  uint8_t index = kZeroRegister;          // register or predicate number; of a memory operand, the base register
  uint8_t width = 0;                      // 32-bit registers from `index` on; 0 if none (RZ, immediate, predicate)
  uint8_t uniform_index = kZeroRegister;  // uniform register of a memory operand
  uint8_t slot = 0;                       // position of a source operand, 0-2: slot of the register-file cache
  bool reuse = false;                     // the value stays in the register-file cache
  bool operator==(const Operand&) const = default;
};

// Effects that the assembly text does not state and the machine needs: the data that an instruction moves, and its
// synchronisation. The text form writes them as {key=value ...} after the instruction.
struct Effect {
  uint32_t bytes = 0;  // bytes moved between SM and L2 by one warp instruction (global, LDGSTS, bulk copies)
  // Passes through the shared-memory data stage; 0: conflict-free minimum of the access width. For LDC, the number of
  // distinct addresses; 0: one.
  uint16_t wavefronts = 0;
  int16_t stream = -1;    // index into Kernel::streams, which states the L2 hit rate; -1: always hits
  int16_t barrier = -1;   // named barrier number (BAR) or index into Kernel::rings (SYNCS, bulk loads)
  int16_t cursor = -1;    // index into Kernel::cursors: the warp's position in the ring; -1: always stage 0
  uint32_t advance = 0;   // stages by which the cursor advances after this instruction
  uint32_t tx_bytes = 0;  // mbarrier transaction bytes expected (arrive.expect_tx)
  uint16_t count = 0;     // DEPBAR.LE n, WARPGROUP.DEPBAR n, LDGDEPBAR groups left, BAR threads, setmaxnreg registers
  uint8_t multicast = 1;  // CTAs of the cluster that receive the same bulk load; L2 serves bytes / multicast for each
  bool commit = false;    // HGMMA: ends a wgmma group (gsb0); LDGDEPBAR: ends a cp.async group
  bool l1_hit = false;    // load, store or LDGSTS whose lines are in L1: no bytes move
  // Atomic (RED, ATOM): passes over a sector in L2; 0: one per sector of `bytes`. Load: pairs of neighbouring sectors
  // that it reads in part or whole; 0: `bytes` / 64.
  uint16_t l2_passes = 0;
  uint32_t l2_sectors = 0;  // Atomic: sectors that the whole launch adds to; 0: so many that additions never wait for each other
  uint16_t rows = 0;        // tcgen05.mma: rows of D in the tensor memory of one SM, 64 or 128
  uint16_t columns = 0;     // tcgen05.mma: N
  bool operator==(const Effect&) const = default;
};

// Guard predicate of an instruction.
struct Guard {
  bool present = false;
  bool negated = false;
  bool uniform = false;  // @UP0
  uint8_t predicate = kTruePredicate;

  // @!PT: predicated off. Compilers write it as padding and generators for ragged ends. Such an instruction occupies
  // issue and pipe but reads nothing. Other guards count as true, because traces hold executed instructions.
  bool never() const { return present && negated && predicate == kTruePredicate; }
  bool operator==(const Guard&) const = default;
};

// Place where an instruction was read, for reports. It is excluded from equality, and from files and hashes of kernels.
struct Place {
  std::string line;                  // place in a listing, such as "gemm.sass:120"; empty if generated or read from a trace
  std::vector<std::string> sources;  // source lines named by the listing, innermost inlined function first: "gemm.cu:12"
  bool operator==(const Place& /*other*/) const { return true; }
};

struct Instruction {
  std::string mnemonic;  // including all modifiers: "IMAD.WIDE.U32"
  uint16_t opcode = 0;   // index into Architecture::opcodes(), set by the assembler or Architecture::resolve
  Guard guard;
  std::vector<Operand> operands;  // in source order, destinations first
  ControlCode control;
  Effect effect;
  Place place;
  bool operator==(const Instruction&) const = default;
};

}  // namespace warpfold::isa
