#include "sim/account/segment.h"

namespace warpfold::sim {

std::string_view phase_name(Phase phase) {
  using enum Phase;
  static constexpr auto kNames =
      by_enum<Phase, std::string_view>({{kPrologue, "prologue"}, {kMainLoop, "main_loop"}, {kEpilogue, "epilogue"}});
  return kNames[static_cast<size_t>(phase)];
}

}  // namespace warpfold::sim
