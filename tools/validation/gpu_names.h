#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpfold::validation {

// Returns the GPU file, without its ending, for a GPU's name as printed by sources, `nvidia-smi` and torch: "NVIDIA H100 80GB HBM3"
// gives "h100_sxm", "8x A100-80GB SXM" gives "a100_sxm". The name of a file ("h100_sxm") gives itself. Empty if no file describes
// the GPU, or if the name fits several files.
std::optional<std::string> gpu_file_of(std::string_view published);

}  // namespace warpfold::validation
