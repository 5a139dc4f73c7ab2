#include "configs/diagnostic.h"

namespace warpfold {

std::string Diagnostic::text() const {
  std::string place = file;
  if (line > 0) {
    place.append(place.empty() ? "line " : ":").append(std::to_string(line));
    if (column > 0) place.append(":").append(std::to_string(column));
  }
  return place.empty() ? message : place + ": " + message;
}

}  // namespace warpfold
