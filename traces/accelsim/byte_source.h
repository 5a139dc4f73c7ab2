#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "configs/diagnostic.h"

namespace warpfold::traces::accelsim {

// Bytes of a file, decompressed as they are asked for.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `room`, which is not empty, and says how much; 0: the end.
  virtual Expected<size_t> read(std::span<char> room) = 0;
};

// The file as it is, or what is inside where its first bytes are those of xz, gzip or zstd, whatever its name says; of a .tracez,
// which its name tells, the text of the .traceg.
Expected<std::unique_ptr<ByteSource>> open_source(const std::string& path);
// The same of a file's content; `file` names it in messages.
Expected<std::unique_ptr<ByteSource>> source_of(const std::string& file, std::string content);

}  // namespace warpfold::traces::accelsim
