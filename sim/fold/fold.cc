#include "sim/fold/fold.h"

#include <array>

namespace warpfold::sim {

std::string_view folded_name(Folded folded) {
  static constexpr std::array<std::string_view, kFoldedKinds> kNames = {"off", "none", "exact", "bounded"};
  return kNames[static_cast<int>(folded)];
}

}  // namespace warpfold::sim
