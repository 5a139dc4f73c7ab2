#include "sim/memo/checkpoint.h"

#include <utility>

namespace warpfold::sim {

Checkpoint make_checkpoint(const Snapshot& state, uint64_t hash, const Sm& sm) {
  return {state, hash, std::make_unique<Sm>(sm, Sm::Twin{})};
}

std::unique_ptr<Sm> diverged_copy(const Sm& leader, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) {
  return std::make_unique<Sm>(leader, std::move(ctas), class_of);
}

std::unique_ptr<Sm> follow(const Sm& sm, const MemoHit& hit) { return std::make_unique<Sm>(sm, hit); }

}  // namespace warpfold::sim
