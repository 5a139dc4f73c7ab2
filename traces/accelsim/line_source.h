#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::traces::accelsim {

// Reads a source line by line.
class LineSource {
 public:
  LineSource(std::string file, std::unique_ptr<ByteSource> bytes) : file_(std::move(file)), bytes_(std::move(bytes)) {}

  // Reads the next line without its line end. The view is valid until the next call. Returns false at the end and on an
  // error.
  bool next(std::string_view& line);
  const std::optional<Diagnostic>& error() const { return error_; }

  const std::string& file() const { return file_; }
  int number() const { return static_cast<int>(std::min<uint64_t>(number_, 0x7fffffff)); }  // of the current line, from 1
  uint64_t bytes_read() const { return read_; }                                             // decompressed
  std::unexpected<Diagnostic> fail_here(std::string message) const {
    return fail_at(file_, std::max(1, number()), 1, std::move(message));
  }

 private:
  bool refill();

  std::string file_;
  std::unique_ptr<ByteSource> bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // first byte not yet returned
  size_t end_ = 0;
  bool ended_ = false;
  uint64_t number_ = 0;
  uint64_t read_ = 0;
  std::optional<Diagnostic> error_;
};

}  // namespace warpfold::traces::accelsim
