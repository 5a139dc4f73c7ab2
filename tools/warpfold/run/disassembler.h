#pragma once

#include <string>
#include <string_view>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Compiled code: an ELF file, as nvcc -cubin writes it.
bool is_cubin(std::string_view content);

// The text that the PATH's nvdisasm prints of a cubin. A user may repeat `command` to see the lines that messages name. Fails where
// there is no nvdisasm, where it fails, or prints more than 512 MB.
struct Disassembly {
  std::string command;
  std::string text;
};
Outcome<Disassembly> disassembled(const std::string& cubin);

}  // namespace warpfold::cli
