#pragma once

#include <string>

#include "configs/escape/terminal.h"
#include "configs/escape/visible.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Returns a failure as it is printed. A fault of the input takes one line, whatever characters its names contain; a report keeps
// its lines.
inline std::string text_of(const Failure& failure) {
  const bool line = failure.exit_code == kUserError || failure.exit_code == kLimit;
  return line ? escape::visible(failure.text) : escape::terminal(failure.text);
}

}  // namespace warpfold::cli
