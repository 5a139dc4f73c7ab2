#include "sim/memo/checkpoint.h"

#include <utility>

#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {

Checkpoint make_checkpoint(const Snapshot& state, uint64_t hash, const Sm& sm) {
  return {state, hash, std::make_unique<SmState>(sm.state())};
}

std::unique_ptr<Sm> diverged_copy(const Sm& leader, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) {
  auto copy = std::make_unique<Sm>(leader);
  exchange_classes(*copy, std::move(ctas), class_of);
  return copy;
}

}  // namespace warpfold::sim
