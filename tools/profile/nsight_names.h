#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::profile {

// Numbers of a list of lists such as "[[2048, 1024], [], [1024]]": returns the inner lists. At most 64 lists of 16 numbers are
// kept.
std::vector<std::vector<uint64_t>> lists_of(std::string_view text);

// Converts a kernel's name to torch.profiler's spelling. Nsight's tools cast numbers in template arguments ("f<(int)4, (bool)1>")
// and put a blank before pointers ("char *").
std::string as_demangled(std::string name);

}  // namespace warpfold::profile
