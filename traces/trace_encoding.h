#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

inline constexpr std::string_view kTraceMagic = "warpfold-trace";
inline constexpr uint32_t kTraceFormatVersion = 1;

// The content of a trace file before compression (see trace.proto). The kernels must be valid, at least one, and all of one
// architecture. Throws where an operand's fields do not say what its text says: such an instruction would read back otherwise.
Expected<std::string> encode_kernels(const std::string& file, const std::vector<Kernel>& kernels);
// Decodes and validates. `file` names the file in messages.
Expected<std::vector<Kernel>> decode_kernels(const std::string& file, std::string_view content);

}  // namespace warpfold::traces
