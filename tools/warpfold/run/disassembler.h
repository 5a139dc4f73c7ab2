#pragma once

#include <string>
#include <string_view>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Compiled code: an ELF file, as nvcc -cubin writes it.
bool is_cubin(std::string_view content);

// What nvdisasm prints of a cubin: that of the PATH, or of /usr/local/cuda. `command` is what it was called by, which a user may
// repeat to see the lines that messages name. Fails where there is no nvdisasm, where it fails, or prints more than 512 MB.
struct Disassembly {
  std::string command;
  std::string text;
};
Outcome<Disassembly> disassembled(const std::string& cubin);

}  // namespace warpfold::cli
