#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::isa {

inline constexpr uint8_t kNoCounter = 7;       // no dependence counter (the encoding's own value)
inline constexpr int kDependenceCounters = 6;  // SB0..SB5 per warp
inline constexpr uint8_t kZeroRegister = 255;  // RZ / URZ: reads as zero, uses no port
inline constexpr uint8_t kTruePredicate = 7;   // PT / UPT

// The compiler's scheduling word of one instruction.
struct ControlCode {
  uint8_t stall = 1;                   // 0-15: earliest issue of the warp's next instruction is this many cycles later
  bool yield = false;                  // the same warp may not issue in the very next cycle
  uint8_t write_counter = kNoCounter;  // dependence counter released when the result is written
  uint8_t read_counter = kNoCounter;   // dependence counter released when the sources have been read
  uint8_t wait_mask = 0;               // bit c: issue only when dependence counter c is zero
  bool operator==(const ControlCode&) const = default;
};

enum class OperandKind : uint8_t {
  kRegister,          // R0..R254, RZ
  kUniformRegister,   // UR0..UR254, URZ; to UR62 before sm_100
  kPredicate,         // P0..P6, PT
  kUniformPredicate,  // UP0..UP6, UPT
  kImmediate,         // 0x10, -1, 1.5
  kConstant,          // c[0x0][0x160]
  kMemory,            // [R2.64+UR4+0x10], desc[UR4][R2.64], gdesc[UR8]
  kOther,             // labels, special registers (SR_TID.X), dependence counters (SB0, gsb0)
};

// One operand as written, with the registers it names resolved.
struct Operand {
  OperandKind kind = OperandKind::kOther;
  std::string text;                       // as written, ".reuse" included: "R2.reuse", "[R2.64+0x10]"
  bool destination = false;               // written (true) or read (false) by the instruction
  uint8_t index = kZeroRegister;          // register or predicate number; the base register of a memory operand
  uint8_t width = 0;                      // 32-bit registers covered from `index` on; 0 where none (RZ, immediate, predicate)
  uint8_t uniform_index = kZeroRegister;  // uniform register of a memory operand
  uint8_t slot = 0;                       // source operand position 0-2 (register-file cache slot); sources only
  bool reuse = false;                     // keep the value in the register-file cache
  bool operator==(const Operand&) const = default;
};

// What the assembly text cannot say about an instruction and the machine needs to know: which data it moves and what it
// synchronises with. Written as {key=value ...} after the instruction in the text form.
struct Effect {
  uint32_t bytes = 0;  // bytes moved between SM and L2 by one warp instruction (global, LDGSTS, bulk copies)
  // Passes through the shared-memory data stage, 0: conflict-free minimum of the access width. Of LDC, addresses that are unlike
  // each other, 0: one.
  uint16_t wavefronts = 0;
  int16_t stream = -1;    // index into Kernel::streams (how much of it hits in L2); -1: always hits
  int16_t barrier = -1;   // named barrier number (BAR) or index into Kernel::rings (SYNCS, bulk loads)
  int16_t cursor = -1;    // index into Kernel::cursors: the warp's position in the ring; -1: stage 0 always
  uint32_t advance = 0;   // steps that the cursor takes after this instruction
  uint32_t tx_bytes = 0;  // mbarrier transaction bytes expected (arrive.expect_tx)
  uint16_t count = 0;     // DEPBAR.LE n, WARPGROUP.DEPBAR n, LDGDEPBAR groups left, BAR threads, setmaxnreg registers
  uint8_t multicast = 1;  // CTAs of the cluster that receive the same bulk load: L2 serves bytes / multicast for each
  bool commit = false;    // HGMMA: ends a wgmma group (gsb0); LDGDEPBAR: ends a cp.async group
  bool l1_hit = false;    // a load, store or LDGSTS whose lines L1 has: no bytes move
  // An addition in L2 (RED, ATOM): passes over a sector; 0: one for each sector of `bytes`. A load: pairs of neighbouring sectors
  // that it reads in part or whole; 0: `bytes` / 64.
  uint16_t l2_passes = 0;
  uint32_t l2_sectors =
      0;                 // the same: sectors that the launch adds to, all together; 0: so many that they do not wait for each other
  uint16_t rows = 0;     // tcgen05.mma: rows of D in the tensor memory of one SM, 64 or 128
  uint16_t columns = 0;  // tcgen05.mma: N
  bool operator==(const Effect&) const = default;
};

// Predicate that guards an instruction. `taken` false: predicated off, so it occupies issue and pipe but reads nothing.
struct Guard {
  bool present = false;
  bool negated = false;
  bool uniform = false;  // @UP0
  uint8_t predicate = kTruePredicate;

  // @!PT: written by compilers as padding and by generators for ragged ends. Other guards are taken as true: traces hold what ran.
  bool never() const { return present && negated && predicate == kTruePredicate; }
  bool operator==(const Guard&) const = default;
};

// Where an instruction was read, for reports. No part of what it is: equality leaves it out, and files and hashes of kernels do.
struct Place {
  std::string line;                  // of a listing: "gemm.sass:120"; empty: generated, or read from a trace
  std::vector<std::string> sources;  // lines of source that the listing names, the innermost of inlined ones first: "gemm.cu:12"
  bool operator==(const Place& /*other*/) const { return true; }
};

struct Instruction {
  std::string mnemonic;  // with all modifiers: "IMAD.WIDE.U32"
  uint16_t opcode = 0;   // index into Architecture::opcodes(), set by the assembler or Architecture::resolve
  Guard guard;
  std::vector<Operand> operands;  // in source order, destinations first
  ControlCode control;
  Effect effect;
  Place place;
  bool operator==(const Instruction&) const = default;
};

}  // namespace warpfold::isa
