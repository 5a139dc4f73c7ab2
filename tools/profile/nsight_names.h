#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::profile {

// Numbers of a list of lists, "[[2048, 1024], [], [1024]]": the inner lists. At most 64 lists of 16 numbers; others are left out.
std::vector<std::vector<uint64_t>> lists_of(std::string_view text);

// A kernel's name as torch.profiler has it. Nsight's tools cast numbers among template arguments, "f<(int)4, (bool)1>", and set
// pointers apart, "char *".
std::string as_demangled(std::string name);

}  // namespace warpfold::profile
