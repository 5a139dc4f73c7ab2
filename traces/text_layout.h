#pragma once

#include <string>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// Returns the text form of kernels (trace_file.h) in the layout of format_kernels. Lines are indented by two blanks for
// each open kernel, role and loop. One blank separates words, none surrounds = * /. A comma and a blank separate
// operands, and ; ends an instruction. Comments stay. Runs of empty lines become one line. Words do not change, so the
// kernels stay the same. Fails for a text that parse_kernels() rejects, with its message.
Expected<std::string> lay_out_text(const std::string& file, const std::string& text);

}  // namespace warpfold::traces
