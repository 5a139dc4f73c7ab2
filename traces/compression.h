#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// One zstd frame with a checksum, so that any damage is noticed. The same content gives the same bytes.
std::string compress(std::string_view content);
// The content of exactly one frame. Foreign, damaged or truncated data, bytes after the frame and contents of more than
// `limit` bytes fail. `file` names the file in messages.
Expected<std::string> decompress(const std::string& file, std::string_view frame, size_t limit);

}  // namespace warpfold::traces
