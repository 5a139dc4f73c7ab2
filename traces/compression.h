#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// Returns one zstd frame with a checksum, which reveals any damage. Equal content gives equal bytes.
std::string compress(std::string_view content);
// Returns the content of exactly one frame. Fails for foreign, damaged or truncated data, for bytes after the frame,
// and for content of more than `limit` bytes. `file` names the file in messages.
Expected<std::string> decompress(const std::string& file, std::string_view frame, size_t limit);

}  // namespace warpfold::traces
