#include "sim/memo/fold.h"

#include <array>

namespace warpfold::sim {

std::string_view folded_name(Folded folded) {
  static constexpr std::array<std::string_view, kFoldedKinds> kNames = {"off", "none", "exact", "bounded"};
  return kNames[static_cast<int>(folded)];
}

std::string_view mechanism_name(Mechanism mechanism) {
  static constexpr std::array<std::string_view, kMechanisms> kNames = {"recurrence", "run cache"};
  return kNames[static_cast<int>(mechanism)];
}

}  // namespace warpfold::sim
