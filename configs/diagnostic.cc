#include "configs/diagnostic.h"

#include "configs/escape/quoted.h"
#include "configs/escape/terminal.h"

namespace warpfold {

std::string Diagnostic::text() const {
  std::string place = escape::path(file);
  if (line > 0) {
    place.append(place.empty() ? "line " : ":").append(std::to_string(line));
    if (column > 0) place.append(":").append(std::to_string(column));
  }
  return place.empty() ? escape::terminal(message) : place + ": " + escape::terminal(message);
}

Diagnostic Diagnostic::inside(const std::string& outer) const {
  Diagnostic diagnostic = *this;
  if (!path.empty()) diagnostic.path = outer + "." + path;
  return diagnostic;
}

}  // namespace warpfold
