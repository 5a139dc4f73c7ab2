#pragma once

#include <string>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// The text form of kernels (trace_file.h) in the layout that format_kernels prints: two blanks for each open kernel, role and loop,
// one between words, none around = * /, a comma and a blank between operands, ; behind each instruction. Comments stay, runs of
// empty lines become one. Words stay as they are, so the kernels are the same; a text that is no kernel fails as it does when it is
// read.
Expected<std::string> lay_out_text(const std::string& file, const std::string& text);

}  // namespace warpfold::traces
