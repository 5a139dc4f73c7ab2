#include "traces/import/execute.h"

// Results of what synchronises: a wait at an mbarrier or for registers succeeds, for the machine holds the warp until it does.

namespace warpfold::sass {
namespace {

// SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R0; the state that an arrival returns is not followed.
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

// UCGABAR_WAIT; it waits for the phases in turn.
void cluster_wait(Warp& warp, const Op& /*op*/, uint32_t /*mask*/) { warp.state.cluster_phase ^= 1; }

// USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8
void set_max_registers(Warp& warp, const Op& op, uint32_t mask) {
  for (const Source& source : op.sources) {
    if (is_predicate(source)) warp.write(source, Bits::of(true), mask);
  }
}

}  // namespace

std::span<const Executor> async_executors() {
  static constexpr std::array kTable{Executor{"SYNCS", syncs}, Executor{"USETMAXREG", set_max_registers},
                                     Executor{"UCGABAR_WAIT", cluster_wait}};
  return kTable;
}

}  // namespace warpfold::sass
