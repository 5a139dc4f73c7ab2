#include "sim/fold/fold.h"

#include "configs/enum_values.h"

namespace warpfold::sim {

std::string_view folded_name(Folded folded) {
  using enum Folded;
  static constexpr auto kNames =
      by_enum<Folded, std::string_view>({{kOff, "off"}, {kNone, "none"}, {kExact, "exact"}, {kBounded, "bounded"}});
  return kNames[static_cast<size_t>(folded)];
}

}  // namespace warpfold::sim
