#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::profile {

// A stream of bytes for RapidJSON. It ends with a NUL at the end of the file, after an error of the source, and inside an endless
// token.
class ByteStream {
 public:
  using Ch = char;
  // Longest string or blank in bytes. A stack of Python frames takes some 100 KB.
  static constexpr uint64_t kLongest = uint64_t{1} << 24;

  explicit ByteStream(std::unique_ptr<traces::accelsim::ByteSource> source) : source_(std::move(source)), piece_(kPiece) { fill(); }

  char Peek() const { return at_ == end_ ? '\0' : *at_; }
  char Take() {
    if (at_ == end_) return '\0';
    const char c = *at_++;
    if (c == '\n') {
      ++line_;
      line_begin_ = Tell();
    }
    if (at_ == end_) fill();
    return c;
  }
  size_t Tell() const { return before_ + static_cast<size_t>(at_ - piece_.data()); }
  // RapidJSON requires these, but calls them only for streams that it parses in place.
  static char* PutBegin() { return nullptr; }
  static void Put(char) {}
  static void Flush() {}
  static size_t PutEnd(char*) { return 0; }

  void token_ends() { token_ = Tell(); }
  bool at_end() const { return at_ == end_ && !error_ && !endless_; }
  bool endless() const { return endless_; }
  const std::optional<Diagnostic>& error() const { return error_; }
  int line() const { return static_cast<int>(std::min<uint64_t>(line_, INT32_MAX)); }
  int column() const { return static_cast<int>(std::min<uint64_t>(Tell() - line_begin_ + 1, INT32_MAX)); }

 private:
  static constexpr size_t kPiece = size_t{1} << 18;

  void fill();

  std::unique_ptr<traces::accelsim::ByteSource> source_;
  std::vector<char> piece_;
  const char* at_ = piece_.data();
  const char* end_ = piece_.data();
  size_t before_ = 0;  // bytes before the piece
  size_t token_ = 0;   // end of the last value
  uint64_t line_ = 1;
  size_t line_begin_ = 0;
  bool endless_ = false;
  std::optional<Diagnostic> error_{};
};

}  // namespace warpfold::profile
