#include "sim/account/segment.h"

#include <array>

namespace warpfold::sim {

std::string_view phase_name(Phase phase) {
  static constexpr std::array<std::string_view, kPhases> kNames = {"prologue", "main_loop", "epilogue"};
  return kNames[static_cast<int>(phase)];
}

}  // namespace warpfold::sim
