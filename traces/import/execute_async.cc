#include "traces/import/execute.h"

// Results of synchronising instructions. A wait for an mbarrier or for registers succeeds, because the machine holds
// the warp until then.

namespace warpfold::sass {
namespace {

// SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R0. The state that an arrival returns is unknown.
void syncs(Warp& warp, const Op& op, uint32_t mask) {
  const bool waits = op.behaviour == isa::Behaviour::kMbarrierWait;
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, waits ? Bits::of(true) : Bits::nothing(op.index), mask);
    } else {
      warp.write(destination, Word::nothing(op.index), mask);
    }
  }
}

// UCGABAR_WAIT waits for the phases in turn.
void cluster_wait(Warp& warp, const Op& /*op*/, uint32_t /*mask*/) { warp.state.cluster_phase ^= 1; }

// USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8
void set_max_registers(Warp& warp, const Op& op, uint32_t mask) {
  for (const Source& source : op.sources) {
    if (is_predicate(source)) warp.write(source, Bits::of(true), mask);
  }
}

// tcgen05.alloc and similar, UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR6, UR6. Columns are free at once, from the first
// column on.
void tensor_columns(Warp& warp, const Op& op, uint32_t mask) {
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, Bits::of(true), mask);
    } else {
      warp.write(destination, Word::of(0), mask);
    }
  }
}

void refuse_peer(Warp& /*warp*/, const Op& op, uint32_t /*mask*/) {
  throw NotFollowed{op.index, "an asynchronous operation on a peer's shared memory, which is not followed; record a trace"};
}

void refuse_work(Warp& /*warp*/, const Op& op, uint32_t /*mask*/) {
  throw NotFollowed{op.index, "work that the hardware hands out is not followed; launch a grid without it, or record a trace"};
}

void refuse_uniform_store(Warp& /*warp*/, const Op& op, uint32_t /*mask*/) {
  throw NotFollowed{op.index, "memory that the uniform datapath writes is not followed; record a trace"};
}

}  // namespace

std::span<const Executor> async_executors() {
  static constexpr std::array kTable{Executor{"SYNCS", syncs},
                                     Executor{"USETMAXREG", set_max_registers},
                                     Executor{"UCGABAR_WAIT", cluster_wait},
                                     Executor{"UTCATOMSWS", tensor_columns},
                                     Executor{"STAS", refuse_peer},
                                     Executor{"REDAS", refuse_peer},
                                     Executor{"UGETNEXTWORKID", refuse_work},
                                     Executor{"UREDGR", refuse_uniform_store},
                                     Executor{"USTGR", refuse_uniform_store},
                                     Executor{"UMEMSETS", refuse_uniform_store}};
  return kTable;
}

}  // namespace warpfold::sass
