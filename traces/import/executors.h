#pragma once

#include <string_view>

#include "traces/import/op.h"

namespace warpfold::sass {

// What executes an opcode of the control slice: integer, predicate, uniform, shuffle, vote, conversion and move instructions.
// nullptr: the executor does not follow it, so that its results are unknown.
Execute executor_of(std::string_view base);

// One table a file, from the opcode's name to what executes it.
struct Executor {
  std::string_view base;
  Execute execute;
};

}  // namespace warpfold::sass
