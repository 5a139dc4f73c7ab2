#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "configs/diagnostic.h"

namespace warpfold::traces::accelsim {

// Bytes of a file, decompressed on demand.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `room`, which must not be empty. Returns the number of bytes, or 0 at the end.
  virtual Expected<size_t> read(std::span<char> room) = 0;
};

// Opens a file. If its first bytes are those of xz, gzip or zstd, reads the decompressed content, whatever the file's
// name. A file named .tracez is read as the text of its .traceg.
Expected<std::unique_ptr<ByteSource>> open_source(const std::string& path);
// As above for the content of a file. `file` names it in messages.
Expected<std::unique_ptr<ByteSource>> source_of(const std::string& file, std::string content);

}  // namespace warpfold::traces::accelsim
