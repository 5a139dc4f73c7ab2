#include <string_view>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/checks.h"

namespace warpfold::traces {

namespace {

using isa::Behaviour;

constexpr int kNamedBarriers = 16;           // per CTA; PTX ISA, "bar, barrier": a = 0..15
constexpr uint32_t kLargestPhase = 0xfffff;  // 2^20 - 1; PTX ISA, "mbarrier": range of pending counts and of tx-count
constexpr uint32_t kFewestRegisters = 24;    // PTX ISA, setmaxnreg: 24..256 in steps of 8
constexpr uint32_t kMostRegisters = 256;
constexpr uint32_t kRegisterStep = 8;

std::string number(int64_t value) { return std::to_string(value); }

// Returns text such as "ring 4; the kernel has 2 rings, counted from 0".
std::string out_of_range(std::string_view what, int64_t index, size_t size) {
  const std::string kind(what);
  std::string text = kind + " " + number(index) + "; the kernel has ";
  return text + (size == 0 ? "no " + kind + "s" : std::to_string(size) + " " + kind + "s, counted from 0");
}

bool in_range(int64_t index, size_t size) { return index >= 0 && static_cast<uint64_t>(index) < size; }

bool moves_global_data(Behaviour behaviour) {
  return behaviour == Behaviour::kLoadGlobal || behaviour == Behaviour::kStoreGlobal || behaviour == Behaviour::kCopyAsync ||
         behaviour == Behaviour::kBulkLoad || behaviour == Behaviour::kBulkStore;
}

bool uses_ring(Behaviour behaviour) {
  return behaviour == Behaviour::kBulkLoad || behaviour == Behaviour::kMbarrierWait || behaviour == Behaviour::kMbarrierArrive ||
         behaviour == Behaviour::kTcgen05Commit;
}

bool uses_named_barrier(Behaviour behaviour) {
  return behaviour == Behaviour::kBarrierSync || behaviour == Behaviour::kBarrierArrive;
}

bool uses_count(Behaviour behaviour) {
  return uses_named_barrier(behaviour) || behaviour == Behaviour::kDependenceWait || behaviour == Behaviour::kWgmmaWait ||
         behaviour == Behaviour::kCopyAsyncCommit || behaviour == Behaviour::kCopyAsyncWait || behaviour == Behaviour::kBulkWait ||
         behaviour == Behaviour::kSetMaxRegisters;
}

bool looks_into_l1(Behaviour behaviour) { return behaviour == Behaviour::kLoadGlobal || behaviour == Behaviour::kCopyAsync; }

Problem check_data(Behaviour behaviour, const isa::Effect& effect, const Kernel& kernel) {
  if (!moves_global_data(behaviour) && (effect.bytes != 0 || effect.stream != -1)) {
    return "bytes and stream belong to global loads and stores, LDGSTS and bulk copies";
  }
  if (effect.stream != -1 && !in_range(effect.stream, kernel.streams.size())) {
    return out_of_range("stream", effect.stream, kernel.streams.size());
  }
  if (effect.stream != -1 && kernel.streams[static_cast<size_t>(effect.stream)].l1_numerator > 0 && !looks_into_l1(behaviour)) {
    return "stream " + kernel.streams[static_cast<size_t>(effect.stream)].name +
           " hits in L1, into which only loads and LDGSTS look";
  }
  if (effect.multicast == 0 || effect.multicast > kernel.cluster_ctas) {
    return "multicast=" + number(effect.multicast) + " in a cluster of " + number(kernel.cluster_ctas);
  }
  if (effect.multicast != 1 && behaviour != Behaviour::kBulkLoad) {
    return "multicast belongs to bulk loads";
  }
  if (effect.bytes % effect.multicast != 0) {
    return number(effect.bytes) + " bytes cannot be divided by multicast=" + number(effect.multicast);
  }
  return {};
}

bool hits_l1(Behaviour behaviour) {
  return behaviour == Behaviour::kLoadGlobal || behaviour == Behaviour::kStoreGlobal || behaviour == Behaviour::kCopyAsync;
}

// True for spills, which stay in L1.
bool local(std::string_view mnemonic) { return mnemonic.starts_with("LDL") || mnemonic.starts_with("STL"); }

Problem check_bytes(Behaviour behaviour, const isa::Instruction& instruction) {
  const isa::Effect& effect = instruction.effect;
  if (effect.l2_sectors != 0 && !isa::adds_in_l2(instruction.mnemonic)) return "l2_sectors belongs to RED and ATOM";
  const bool by_lanes =
      behaviour == Behaviour::kLoadGlobal || behaviour == Behaviour::kCopyAsync || behaviour == Behaviour::kStoreGlobal;
  if (effect.l2_passes != 0 && !by_lanes) return "l2_passes belongs to global loads and stores, LDGSTS, RED and ATOM";
  if (effect.l1_hit && (!hits_l1(behaviour) || effect.bytes > 0 || effect.stream != -1)) {
    return "l1_hit belongs to global loads and stores and LDGSTS that move no bytes of a stream";
  }
  if (!moves_global_data(behaviour) || effect.bytes > 0 || effect.l1_hit) return {};
  if (instruction.guard.never() || local(instruction.mnemonic)) return {};
  return "no bytes: state bytes=N, what the instruction moves for its warp, or l1_hit";
}

// True of an arrival at a grid's barrier, and of a load that waits there.
bool meets_in_grid(Behaviour behaviour, const isa::Instruction& instruction) {
  return behaviour == Behaviour::kLoadGlobal || (behaviour == Behaviour::kStoreGlobal && isa::adds_in_l2(instruction.mnemonic));
}

Problem check_barrier(Behaviour behaviour, const isa::Instruction& instruction, const Kernel& kernel) {
  const isa::Effect& effect = instruction.effect;
  if (uses_ring(behaviour)) {
    if (effect.barrier == -1) return "no ring: state barrier=N, an index into the kernel's rings";
    if (!in_range(effect.barrier, kernel.rings.size())) return out_of_range("ring", effect.barrier, kernel.rings.size());
  } else if (uses_named_barrier(behaviour)) {
    if (effect.barrier == -1) return "no barrier: state barrier=N, a named barrier";
    if (!in_range(effect.barrier, kNamedBarriers)) return "named barrier " + number(effect.barrier) + "; a CTA has 0-15";
  } else if (effect.barrier != -1 && !meets_in_grid(behaviour, instruction)) {
    return "barrier belongs to BAR, mbarrier operations, bulk loads, tcgen05.commit, and RED, ATOM and LDG of a grid's barrier";
  } else if (effect.barrier > 0) {
    return "grid's barrier " + number(effect.barrier) + "; a launch has one, barrier=0";
  }
  if (effect.tx_bytes != 0 && behaviour != Behaviour::kMbarrierArrive) {
    return "tx_bytes belongs to mbarrier arrivals";
  }
  if (effect.tx_bytes > kLargestPhase) {
    return "tx_bytes=" + number(effect.tx_bytes) + "; an mbarrier expects at most " + number(kLargestPhase);
  }
  return {};
}

Problem check_cursor(Behaviour behaviour, const isa::Effect& effect, const Kernel& kernel) {
  if (effect.cursor == -1) {
    if (effect.advance != 0) return "advance=" + number(effect.advance) + " without a cursor";
    return {};
  }
  if (!in_range(effect.cursor, kernel.cursors.size())) {
    return out_of_range("cursor", effect.cursor, kernel.cursors.size());
  }
  if (!uses_ring(behaviour)) return {};
  const Cursor& cursor = kernel.cursors[static_cast<size_t>(effect.cursor)];
  const Ring& ring = kernel.rings[static_cast<size_t>(effect.barrier)];
  if (cursor.depth != ring.depth) {
    return "cursor " + cursor.name + " of depth " + number(cursor.depth) + " used with ring " + escape::unquoted(ring.name) +
           " of depth " + number(ring.depth);
  }
  return {};
}

Problem check_count(Behaviour behaviour, const isa::Effect& effect, const Kernel& kernel) {
  const uint32_t threads = kernel.warps_per_cta() * 32;
  if (effect.count != 0 && !uses_count(behaviour)) {
    return "count belongs to waits for groups, BAR and USETMAXREG";
  }
  if (uses_named_barrier(behaviour) && (effect.count % 32 != 0 || effect.count > threads)) {
    return "barrier of " + number(effect.count) + " threads; whole warps of the CTA's " + number(threads) + " threads take part";
  }
  if (behaviour == Behaviour::kBarrierArrive && effect.count == 0) {
    return "an arrival without waiting needs count=N, the threads that the barrier expects";
  }
  if (behaviour == Behaviour::kSetMaxRegisters &&
      (effect.count < kFewestRegisters || effect.count > kMostRegisters || effect.count % kRegisterStep != 0)) {
    return "count=" + number(effect.count) + "; USETMAXREG takes 24-256 registers in steps of 8";
  }
  if (effect.commit && behaviour != Behaviour::kWgmma && behaviour != Behaviour::kCopyAsyncCommit) {
    return "commit belongs to wgmma and LDGDEPBAR";
  }
  return {};
}

// PTX ISA, tcgen05.mma: D has 64 or 128 rows in an SM's tensor memory. N is 8..256 in steps of 8, or of 16 with 128
// rows or two SMs.
Problem check_shape(Behaviour behaviour, const isa::Effect& effect, const Kernel& kernel) {
  constexpr int kMostColumns = 256;
  if (behaviour != Behaviour::kTcgen05Mma) {
    return effect.rows == 0 && effect.columns == 0 ? Problem{} : "rows and columns belong to tcgen05.mma";
  }
  if (effect.rows != 64 && effect.rows != 128) return "rows=" + number(effect.rows) + "; tcgen05.mma has 64 or 128 in an SM";
  const int step = effect.rows == 64 ? 8 : 16;
  if (effect.columns < step || effect.columns > kMostColumns || effect.columns % step != 0) {
    return "columns=" + number(effect.columns) + "; tcgen05.mma has " + number(step) + "-256 in steps of " + number(step);
  }
  if (kernel.tensor_memory_columns == 0) return "a kernel without tensor memory: state tensor_memory=N";
  return {};
}

}  // namespace

Problem check_effect(const isa::OpcodeInfo& opcode, const isa::Instruction& instruction, const Kernel& kernel) {
  if (Problem problem = check_bytes(opcode.behaviour, instruction)) return problem;
  // The order matters: the check of the cursor relies on the check of the ring.
  const bool meets_none = instruction.guard.never() && instruction.effect.barrier == -1;
  if (Problem problem = check_data(opcode.behaviour, instruction.effect, kernel)) return problem;
  if (Problem problem = check_barrier(opcode.behaviour, instruction, kernel); problem && !meets_none) return problem;
  for (const auto check : {check_cursor, check_count, check_shape}) {
    if (Problem problem = check(opcode.behaviour, instruction.effect, kernel)) return problem;
  }
  return {};
}

}  // namespace warpfold::traces
