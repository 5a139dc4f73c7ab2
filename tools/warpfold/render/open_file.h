#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace warpfold::cli {

// Owner of an open file descriptor, or of none (below 0). The destructor closes the file.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() { close(); }
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile& operator=(OpenFile&&) = delete;

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

  // Reads to the end of the file, or until more than `most` bytes have been read.
  std::string read(size_t most = std::string::npos - 1) const {
    std::string text;
    std::array<char, 1U << 16U> piece{};
    while (text.size() <= most) {
      const ssize_t count = ::read(number_, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(piece.data(), static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int number_;
};

}  // namespace warpfold::cli
