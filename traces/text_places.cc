#include "traces/text_places.h"

namespace warpfold::traces {

TextPlaces::Position TextPlaces::find(const Place& place) const {
  for (const Place& wider : {place, Place{place.part, place.index}, Place{}}) {
    const auto found = positions_.find(wider);
    if (found != positions_.end()) return found->second;
  }
  return {};
}

}  // namespace warpfold::traces
