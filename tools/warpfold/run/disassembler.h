#pragma once

#include <string>
#include <string_view>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// True for compiled code: an ELF file, as nvcc -cubin writes it.
bool is_cubin(std::string_view content);

// The text that the PATH's nvdisasm prints for a cubin. Users may repeat `command` to see the lines that messages name.
// `disassembled` fails if nvdisasm is not installed, fails, or prints more than 512 MB.
struct Disassembly {
  std::string command;
  std::string text;
};
Outcome<Disassembly> disassembled(const std::string& cubin);

}  // namespace warpfold::cli
