#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpfold::validation {

// The GPU file, without its ending, that stands for a GPU as sources, `nvidia-smi` and torch print it: "NVIDIA H100 80GB HBM3" ->
// "h100_sxm", "8x A100-80GB SXM" -> "a100_sxm". A name that a file has itself ("h100_sxm") is its own. None: there is no file for
// it, or sources leave open which of several it is.
std::optional<std::string> gpu_file_of(std::string_view published);

}  // namespace warpfold::validation
