#pragma once

#include <string_view>

#include "traces/import/op.h"

namespace warpfold::sass {

// Returns the executor of an opcode of the control slice: integer, predicate, uniform, shuffle, vote, conversion and
// move instructions. Returns nullptr for other opcodes; their results are unknown.
Execute executor_of(std::string_view base);

// Table entry: an opcode's name and its executor. Each file has one table.
struct Executor {
  std::string_view base;
  Execute execute;
};

}  // namespace warpfold::sass
