#pragma once

#include <string>

#include "configs/escape/terminal.h"
#include "configs/escape/visible.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// A failure as it is printed: in one line where the input is at fault, whatever the names in it hold; a report keeps its lines.
inline std::string text_of(const Failure& failure) {
  const bool line = failure.exit_code == kUserError || failure.exit_code == kLimit;
  return line ? escape::visible(failure.text) : escape::terminal(failure.text);
}

}  // namespace warpfold::cli
