#include "traces/accelsim/byte_source.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "traces/accelsim/tracez_source.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr size_t kPiece = size_t{1} << 18;
constexpr std::string_view kIndexed = ".tracez";
// Limit of a decoder's window: enough for xz -9 and zstd --long=27.
constexpr uint64_t kMostMemory = uint64_t{1} << 28;

std::unexpected<Diagnostic> truncated(const std::string& file, const char* format) {
  return fail_at(file, 0, 0, std::string("truncated: the ") + format + " data ends early; copy or trace the file again");
}
std::unexpected<Diagnostic> damaged(const std::string& file, const char* format, const std::string& why) {
  return fail_at(file, 0, 0, std::string("damaged ") + format + " data (" + why + "); copy or trace the file again");
}

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
  Expected<size_t> read(std::span<char> room) override {
    const size_t count = std::fread(room.data(), 1, room.size(), file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0) return fail_at(path_, 0, 0, "cannot be read");
    return count;
  }

 private:
  std::string path_;
  File file_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string content) : content_(std::move(content)) {}
  Expected<size_t> read(std::span<char> room) override {
    const size_t count = std::min(room.size(), content_.size() - at_);
    std::memcpy(room.data(), content_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string content_;
  size_t at_ = 0;
};

// Source whose first bytes can be read without consuming them.
class PeekSource : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}
  Expected<std::string_view> peek() {
    while (held_ < first_.size()) {
      const auto count = inner_->read(std::span(first_).subspan(held_));
      if (!count) return std::unexpected(count.error());
      if (*count == 0) break;
      held_ += *count;
    }
    return std::string_view(first_.data(), held_);
  }
  Expected<size_t> read(std::span<char> room) override {
    if (given_ == held_) return inner_->read(room);
    const size_t count = std::min(room.size(), held_ - given_);
    std::memcpy(room.data(), first_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::array<char, 16> first_{};
  size_t held_ = 0;
  size_t given_ = 0;
};

// Compressed bytes, piece by piece.
class Pieces {
 public:
  explicit Pieces(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)), piece_(kPiece) {}
  Expected<std::span<char>> next() {
    const auto count = inner_->read(piece_);
    if (!count) return std::unexpected(count.error());
    return std::span(piece_).first(*count);
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::vector<char> piece_;
};

class XzSource : public ByteSource {
 public:
  XzSource(std::string file, std::unique_ptr<ByteSource> inner) : file_(std::move(file)), pieces_(std::move(inner)) {
    started_ = lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK;
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  XzSource(XzSource&&) = delete;
  XzSource& operator=(XzSource&&) = delete;

  Expected<size_t> read(std::span<char> room) override {
    if (!started_) return damaged(file_, "xz", "no memory for the decoder");
    stream_.next_out = reinterpret_cast<uint8_t*>(room.data());
    stream_.avail_out = room.size();
    while (!ended_ && stream_.avail_out == room.size()) {
      if (stream_.avail_in == 0 && !last_) {
        const auto piece = pieces_.next();
        if (!piece) return std::unexpected(piece.error());
        stream_.next_in = reinterpret_cast<const uint8_t*>(piece->data());
        stream_.avail_in = piece->size();
        last_ = piece->empty();
      }
      const lzma_ret done = lzma_code(&stream_, last_ ? LZMA_FINISH : LZMA_RUN);
      ended_ = done == LZMA_STREAM_END;
      if (done == LZMA_BUF_ERROR) return truncated(file_, "xz");
      if (done == LZMA_MEMLIMIT_ERROR) return damaged(file_, "xz", "its window is beyond 256 MiB");
      if (done != LZMA_OK && !ended_) return damaged(file_, "xz", "code " + std::to_string(done));
    }
    return room.size() - stream_.avail_out;
  }

 private:
  std::string file_;
  Pieces pieces_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool started_ = false;
  bool last_ = false;
  bool ended_ = false;
};

class GzipSource : public ByteSource {
 public:
  GzipSource(std::string file, std::unique_ptr<ByteSource> inner) : file_(std::move(file)), pieces_(std::move(inner)) {
    constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
    started_ = inflateInit2(&stream_, kGzip) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  GzipSource(GzipSource&&) = delete;
  GzipSource& operator=(GzipSource&&) = delete;

  Expected<size_t> read(std::span<char> room) override {
    if (!started_) return damaged(file_, "gzip", "no memory for the decoder");
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(std::min(room.size(), kPiece));
    const uInt asked = stream_.avail_out;
    while (!ended_ && stream_.avail_out == asked) {
      if (stream_.avail_in == 0) {
        const auto piece = pieces_.next();
        if (!piece) return std::unexpected(piece.error());
        // Another gzip member may follow (pigz, concatenated files).
        ended_ = piece->empty() && between_;
        if (ended_) break;
        if (piece->empty()) return truncated(file_, "gzip");
        stream_.next_in = reinterpret_cast<Bytef*>(piece->data());
        stream_.avail_in = static_cast<uInt>(piece->size());
      }
      if (between_) inflateReset(&stream_);
      between_ = false;
      const int done = inflate(&stream_, Z_NO_FLUSH);
      between_ = done == Z_STREAM_END;
      if (done != Z_OK && done != Z_BUF_ERROR && !between_) return damaged(file_, "gzip", "code " + std::to_string(done));
    }
    return asked - stream_.avail_out;
  }

 private:
  std::string file_;
  Pieces pieces_;
  z_stream stream_{};
  bool started_ = false;
  bool between_ = false;
  bool ended_ = false;
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::string file, std::unique_ptr<ByteSource> inner) : file_(std::move(file)), pieces_(std::move(inner)) {}

  Expected<size_t> read(std::span<char> room) override {
    ZSTD_outBuffer output{room.data(), room.size(), 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size) {
        const auto piece = pieces_.next();
        if (!piece) return std::unexpected(piece.error());
        if (piece->empty() && !between_) return truncated(file_, "zstd");
        if (piece->empty()) return size_t{0};
        input_ = {piece->data(), piece->size(), 0};
      }
      const size_t left = ZSTD_decompressStream(context_.get(), &output, &input_);
      if (ZSTD_isError(left) != 0) return damaged(file_, "zstd", ZSTD_getErrorName(left));
      between_ = left == 0;
    }
    return output.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::string file_;
  Pieces pieces_;
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool between_ = false;
};

Expected<std::unique_ptr<ByteSource>> decoded(const std::string& file, std::unique_ptr<ByteSource> raw) {
  using namespace std::string_view_literals;
  auto peek = std::make_unique<PeekSource>(std::move(raw));
  const auto first = peek->peek();
  if (!first) return std::unexpected(first.error());
  if (first->starts_with("\xfd"
                         "7zXZ\0"sv))
    return std::make_unique<XzSource>(file, std::move(peek));
  if (first->starts_with("\x1f\x8b"sv)) return std::make_unique<GzipSource>(file, std::move(peek));
  if (first->starts_with("\x28\xb5\x2f\xfd"sv)) return std::make_unique<ZstdSource>(file, std::move(peek));
  if (first->starts_with("version https://"sv)) {
    return fail_at(file, 1, 1, "a pointer of Git LFS, not the trace itself; fetch it with: git lfs pull");
  }
  return peek;
}

}  // namespace

Expected<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return fail_at(path, 0, 0, "cannot be opened: " + std::generic_category().message(errno));
  if (path.ends_with(kIndexed)) return open_tracez(path, std::move(file));
  return decoded(path, std::make_unique<FileSource>(path, std::move(file)));
}

Expected<std::unique_ptr<ByteSource>> source_of(const std::string& file, std::string content) {
  if (file.ends_with(kIndexed)) return tracez_of(file, std::move(content));
  return decoded(file, std::make_unique<MemorySource>(std::move(content)));
}

}  // namespace warpfold::traces::accelsim
