#include "sim/sm/program.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "isa/architecture.h"
#include "sim/sm/grid_barrier.h"
#include "traces/access/lane_access.h"

namespace warpfold::sim {
namespace {

using isa::Behaviour;

bool leaves_sm(Behaviour behaviour) {
  return behaviour == Behaviour::kLoadGlobal || behaviour == Behaviour::kStoreGlobal || behaviour == Behaviour::kCopyAsync ||
         behaviour == Behaviour::kBulkLoad || behaviour == Behaviour::kBulkStore;
}

bool has_condition(const MicroOp& op) {
  switch (op.behaviour) {
    case Behaviour::kDependenceWait:
    case Behaviour::kMbarrierWait:
    case Behaviour::kWgmma:
    case Behaviour::kWgmmaWait:
    case Behaviour::kTcgen05Mma:
    case Behaviour::kTcgen05Commit:
    case Behaviour::kTcgen05Copy:
    case Behaviour::kCopyAsyncWait:
    case Behaviour::kSetMaxRegisters:
    case Behaviour::kBulkWait:
      return true;
    default:
      return op.wait_mask != 0 || arrives_at_grid(op);
  }
}

// L2 takes the same time for one sector of a line as for a pair of neighbouring sectors. Source: an H100 and an H200
// (the kit, docs/notebook/silicon.md). Reads of one sector of each line run at 2,190 and 2,560 bytes a cycle, reads of
// two sectors at 3,940 and 4,570.
constexpr uint32_t kPairBytes = 2 * traces::access::kSectorBytes;

// Returns the data-stage passes without bank conflicts: one per 128 bytes of a warp's access. LDSM moves one 8x8 matrix
// a pass.
uint16_t minimum_wavefronts(const isa::OpcodeInfo& info, std::string_view mnemonic) {
  switch (info.behaviour) {
    case Behaviour::kLoadMatrix:
      return mnemonic.ends_with(".4") ? 4 : mnemonic.ends_with(".2") ? 2 : 1;
    case Behaviour::kLoadShared:
    case Behaviour::kStoreShared:
    case Behaviour::kLoadGlobal:
    case Behaviour::kStoreGlobal:
    case Behaviour::kCopyAsync:
      return static_cast<uint16_t>(1U << isa::access_width_index(mnemonic));
    case Behaviour::kShuffle:
    case Behaviour::kLoadConstant:
      return 1;
    default:
      return 0;
  }
}

// Returns the data-stage passes of an instruction. `stated`: passes that its effect states; 0: none. If lanes of a
// shared-memory load ask in pairs for the same words, two registers pass together and the load needs half the minimum.
// 128 bits of one address are 2 passes, 64 bits 1. Source: G. Smith (NVIDIA), forums.developer.nvidia.com/t/77228: 128
// bytes a cycle return, packed where addresses are uniform.
uint16_t passes_of(uint16_t minimum, const isa::OpcodeInfo& info, uint16_t stated) {
  const auto fewest = static_cast<uint16_t>(info.behaviour == Behaviour::kLoadShared ? (minimum + 1) / 2 : minimum);
  return stated == 0 ? minimum : std::max(fewest, stated);
}

// True for an address in a uniform register, and for a constant at a fixed place.
bool uniform_address(const isa::Instruction& instruction) {
  return std::ranges::any_of(instruction.operands, [](const isa::Operand& operand) {
    if (operand.index != isa::kZeroRegister) return false;
    return operand.kind == isa::OperandKind::kConstant ||
           (operand.kind == isa::OperandKind::kMemory && operand.uniform_index != isa::kZeroRegister);
  });
}

void add_register_use(const isa::Instruction& instruction, MicroOp& op) {
  for (const isa::Operand& operand : instruction.operands) {
    const bool in_registers = operand.kind == isa::OperandKind::kRegister || operand.kind == isa::OperandKind::kMemory;
    if (!in_registers || operand.index == isa::kZeroRegister || operand.width == 0) continue;
    if (operand.destination) {
      for (int r = 0; r < operand.width; ++r) ++op.writes[(operand.index + r) & 1];
    } else if (op.source_count < op.sources.size()) {
      op.sources[op.source_count++] = {operand.index, operand.width, std::min<uint8_t>(operand.slot, 2), operand.reuse};
    }
  }
}

// Computes the reads that the source operands need of the register banks. A wide operand covers both banks.
void add_reads(MicroOp& op) {
  for (int i = 0; i < op.source_count; ++i) op.narrow_sources &= op.sources[i].width == 1;
  for (int i = 0; i < op.source_count; ++i) {
    const SourceRead& source = op.sources[i];
    const bool narrow = op.narrow_sources || source.width == 1;
    op.reuses |= source.reuse;
    for (int bank = 0; bank < 2; ++bank) {
      if (narrow && (source.reg & 1) != bank) continue;
      op.reads[bank] = static_cast<uint8_t>(op.reads[bank] + (narrow ? 1 : source.width / 2));
      op.cache_places = static_cast<uint8_t>(op.cache_places | cache_place(bank, source));
    }
  }
}

// "HGMMA.64x128x16.F32.BF16": N is the second number of the shape.
uint16_t wgmma_columns(std::string_view mnemonic) {
  const size_t dot = mnemonic.find('.');
  const size_t x = mnemonic.find('x', dot);
  if (dot == std::string_view::npos || x == std::string_view::npos) throw std::logic_error("wgmma without a shape");
  uint16_t n = 0;
  std::from_chars(mnemonic.data() + x + 1, mnemonic.data() + mnemonic.size(), n);
  return n;
}

// "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], ...": A, B, D. The shape is in a descriptor; the effect states it.
void add_tcgen05_shape(const isa::Instruction& instruction, const isa::OpcodeInfo& info, MicroOp& op) {
  op.columns = instruction.effect.columns;
  op.half_rows = instruction.effect.rows == 64;
  op.pair = instruction.mnemonic.find(".2CTA") != std::string::npos;
  op.narrow = !instruction.mnemonic.starts_with("UTCHMMA");
  op.a_elsewhere = !instruction.operands.empty() && instruction.operands[0].text.starts_with("tmem[");
  op.next_after = std::max(op.next_after, static_cast<uint8_t>(info.issue_interval));
}

// "DEPBAR.LE SB0, 0x1", "WARPGROUP.DEPBAR.LE gsb0, 0x1": the operands or the effect say how many may be outstanding.
void add_wait(const isa::Instruction& instruction, MicroOp& op) {
  for (const isa::Operand& operand : instruction.operands) {
    const std::string_view text = operand.text;
    if (text.starts_with("SB") && text.size() == 3) op.depbar_counter = static_cast<uint8_t>(text[2] - '0');
    if (operand.kind == isa::OperandKind::kImmediate && op.count == 0 && text.starts_with("0x")) {
      std::from_chars(text.data() + 2, text.data() + text.size(), op.count, 16);
    }
  }
}

// Predicates the instruction off: it issues and takes its math pipe's latch, but reads, writes and moves nothing.
void switch_off(MicroOp& op) {
  if (op.pipe == isa::Pipe::kMemory || op.pipe == isa::Pipe::kWgmma || op.pipe == isa::Pipe::kTcgen05) op.pipe = isa::Pipe::kNone;
  op.behaviour = Behaviour::kNoOperation;
  op.global = false;
  op.write_counter = isa::kNoCounter;
  op.read_counter = isa::kNoCounter;
  op.source_count = 0;
  op.writes = {};
  op.load_registers = 0;
  op.advance = 0;
  op.needs_check = op.wait_mask != 0;
}

MicroOp compile(const isa::Architecture& architecture, const isa::Instruction& instruction) {
  const isa::OpcodeInfo& info = architecture.info(instruction);
  const int width = isa::access_width_index(instruction.mnemonic);
  const bool uniform = uniform_address(instruction);
  MicroOp op;
  op.behaviour = info.behaviour;
  op.pipe = info.pipe;
  op.interval = info.issue_interval;
  op.next_after = std::max<uint8_t>({instruction.control.stall, uint8_t{1}, uint8_t(instruction.control.yield ? 2 : 1)});
  op.write_counter = instruction.control.write_counter;
  op.read_counter = instruction.control.read_counter;
  op.wait_mask = instruction.control.wait_mask;
  op.global = leaves_sm(info.behaviour);
  op.blocks_lite = info.also_blocks_fma_lite;
  add_register_use(instruction, op);
  if (info.fixed_latency()) op.write_latency = static_cast<uint8_t>(std::min(architecture.write_latency(info), 60));
  op.load_registers = static_cast<uint8_t>(op.writes[0] + op.writes[1]);
  op.result_cycles = (uniform ? info.result_cycles_uniform : info.result_cycles)[width];
  op.release_cycles = (uniform ? info.source_release_cycles_uniform : info.source_release_cycles)[width];
  const uint16_t minimum = minimum_wavefronts(info, instruction.mnemonic);
  op.wavefronts = passes_of(minimum, info, instruction.effect.wavefronts);
  op.extra_wavefronts = static_cast<uint16_t>(std::max(op.wavefronts, minimum) - minimum);
  op.bytes = instruction.effect.bytes;
  op.tx_bytes = instruction.effect.tx_bytes;
  op.advance = instruction.effect.advance;
  op.stream = instruction.effect.stream;
  op.barrier = instruction.effect.barrier;
  op.cursor = instruction.effect.cursor;
  op.count = instruction.effect.count;
  op.multicast = std::max<uint8_t>(1, instruction.effect.multicast);
  op.l2_bytes = op.bytes / op.multicast;
  if (isa::adds_in_l2(instruction.mnemonic)) {
    const auto sectors = static_cast<uint16_t>(op.bytes / traces::access::kSectorBytes);
    op.l2_passes = std::max(instruction.effect.l2_passes, sectors);
    op.l2_sectors = op.barrier >= 0 ? 1 : instruction.effect.l2_sectors;  // the counter of a grid's barrier is one word
    op.adds_integers = !isa::adds_floats(instruction.mnemonic);
  } else {
    op.l2_bytes = std::max(op.l2_bytes, instruction.effect.l2_passes * kPairBytes);
  }
  op.commit = instruction.effect.commit;
  if (op.behaviour == Behaviour::kDependenceWait || op.behaviour == Behaviour::kWgmmaWait) add_wait(instruction, op);
  if (op.behaviour == Behaviour::kWgmma) {
    op.columns = wgmma_columns(instruction.mnemonic);
    // Operands are the accumulator, A and B. A is a descriptor of shared memory ("gdesc[UR8]") or in registers.
    op.a_elsewhere = instruction.operands.size() > 1 && instruction.operands[1].kind == isa::OperandKind::kRegister;
  }
  if (op.behaviour == Behaviour::kTcgen05Mma) add_tcgen05_shape(instruction, info, op);
  op.needs_check = has_condition(op);
  if (instruction.guard.never()) switch_off(op);
  add_reads(op);
  for (uint8_t bank = 0; bank < 2; ++bank) {
    op.written[bank] = op.writes[bank] > 0 ? bank : 2;
    op.write_slots[bank] = slots_of(op.writes[bank]);
  }
  op.port = static_cast<uint8_t>(op.global ? kGlobalMemory : static_cast<int>(op.pipe));
  op.math = configs::row_of(op.pipe).place == isa::PipePlace::kSubCore;
  op.wide_result = op.pipe == isa::Pipe::kFmaHeavy && op.load_registers == 2;
  op.allocates =
      op.pipe != isa::Pipe::kMemory && (op.behaviour == Behaviour::kFixedLatency || op.behaviour == Behaviour::kNoOperation);
  op.may_be_taken = op.behaviour == Behaviour::kWgmma || op.behaviour == Behaviour::kSetMaxRegisters || queues_tcgen05(op);
  return op;
}

class Compiler {
 public:
  Compiler(const isa::Architecture& architecture, Program& program) : architecture_(architecture), program_(program) {}

  void add(const std::vector<traces::Node>& nodes, uint8_t depth) {
    for (const traces::Node& node : nodes) {
      if (const auto* block = std::get_if<traces::Block>(&node)) {
        for (const isa::Instruction& instruction : block->code) {
          MicroOp op = compile(architecture_, instruction);
          op.depth = depth;
          if (op.cursor >= 0) program_.uses_cursor.at(static_cast<size_t>(op.cursor)) = true;
          program_.ops.push_back(op);
          program_.sources.push_back(&instruction);
        }
      } else {
        add_loop(std::get<traces::Loop>(node), depth);
      }
    }
  }

 private:
  void add_loop(const traces::Loop& loop, uint8_t depth) {
    if (depth >= kMaxLoopDepth) throw std::logic_error("loops nested deeper than the machine's loop counters");
    const size_t index = program_.loops.size();
    program_.loops.push_back({static_cast<uint32_t>(program_.ops.size()), 0, depth, loop.trips});
    add(loop.body, static_cast<uint8_t>(depth + 1));
    program_.loops[index].end = static_cast<uint32_t>(program_.ops.size() - 1);
  }

  const isa::Architecture& architecture_;
  Program& program_;
};

// True if the instruction completes inside the sub-core, which then steps its cursor. The SM steps the cursors of other
// instructions (sm_issue.cc).
bool stays_in_sub_core(const MicroOp& op) {
  return op.pipe != isa::Pipe::kMemory && (op.behaviour == Behaviour::kFixedLatency || op.behaviour == Behaviour::kNoOperation);
}

void mark_edges(Program& program) {
  program.ends_at.resize(program.ops.size());
  program.begins_at.resize(program.ops.size());
  for (size_t i = 0; i < program.loops.size(); ++i) {
    program.begins_at[program.loops[i].begin].push_back(static_cast<uint32_t>(i));
    auto& ends = program.ends_at[program.loops[i].end];
    ends.insert(ends.begin(), static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const bool next_begins = i + 1 < program.ops.size() && !program.begins_at[i + 1].empty();
    program.ops[i].edge =
        next_begins || !program.ends_at[i].empty() || (program.ops[i].cursor >= 0 && stays_in_sub_core(program.ops[i]));
  }
}

}  // namespace

Program compile_role(const isa::Architecture& architecture, const traces::Role& role) {
  Program program;
  Compiler(architecture, program).add(role.body, 0);
  mark_edges(program);
  return program;
}

void tally(Program& program) {
  const size_t size = program.ops.size();
  program.tallies.assign(size + 1, {});
  for (size_t i = 0; i < size; ++i) {
    MicroOp& op = program.ops[i];
    op.straight = !op.edge && op.behaviour != Behaviour::kExit && i + 1 < size && program.ops[i + 1].segment == op.segment;
    Tally& sums = program.tallies[i + 1] = program.tallies[i];
    (op.behaviour == Behaviour::kBranch ? sums.branches : sums.waits) += op.next_after - 1U;
    if (op.math) sums.pipe_cycles[static_cast<int>(op.pipe)] += op.interval;
    if (op.pipe == isa::Pipe::kMemory)
      sums.pipe_cycles[static_cast<int>(op.pipe)] += op.behaviour == Behaviour::kLoadConstant ? op.wavefronts : 1U;
  }
}

const LoopSpan& Program::loop_around(const MicroOp& op, uint32_t depth) const {
  const auto at = static_cast<uint32_t>(&op - ops.data());
  for (const LoopSpan& loop : loops) {
    if (loop.depth == depth && loop.begin <= at && at <= loop.end) return loop;
  }
  throw std::logic_error("an instruction outside the loop it is in");
}

}  // namespace warpfold::sim
