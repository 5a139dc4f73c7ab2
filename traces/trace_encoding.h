#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

inline constexpr std::string_view kTraceMagic = "warpfold-trace";
inline constexpr uint32_t kTraceFormatVersion = 1;

// Returns the content of a trace file before compression (trace.proto). Requires at least one kernel, valid kernels,
// and one architecture for all. Throws if the fields of an operand contradict its text, because such an instruction
// would read back differently.
Expected<std::string> encode_kernels(const std::string& file, const std::vector<Kernel>& kernels);
// Decodes and validates. `file` names the file in messages.
Expected<std::vector<Kernel>> decode_kernels(const std::string& file, std::string_view content);

}  // namespace warpfold::traces
