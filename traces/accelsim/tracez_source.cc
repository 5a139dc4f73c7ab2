#include "traces/accelsim/tracez_source.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace warpfold::traces::accelsim {
namespace {

constexpr uint64_t kLongestHeader = uint64_t{1} << 16;
constexpr uint64_t kLargestDictionary = uint64_t{1} << 24;
constexpr uint64_t kLargestPiece = uint64_t{1} << 26;  // decompressed; the tracer's pieces have some thousand lines

class TracezSource : public ByteSource {
 public:
  TracezSource(std::string path, std::string content, File file)
      : path_(std::move(path)), content_(std::move(content)), file_(std::move(file)) {}

  Expected<void> open() {
    if (!file_) file_.reset(fmemopen(content_.data(), content_.size(), "rb"));
    if (!file_ || fseeko(file_.get(), 0, SEEK_END) != 0) return truncated();
    const off_t size = ftello(file_.get());
    if (size < static_cast<off_t>(sizeof(index_at_))) return truncated();
    const uint64_t end = static_cast<uint64_t>(size) - sizeof(index_at_);
    if (!number_at(end, index_at_) || index_at_ > end) return truncated();
    if (auto read = read_header(); !read) return read;
    index_.resize(end - index_at_);
    if (!bytes_at(index_at_, index_) || !next(ctas_)) return truncated();
    return {};
  }

  Expected<size_t> read(std::span<char> room) override {
    while (given_ == text_.size()) {
      text_.clear();
      given_ = 0;
      const auto more = read_on();
      if (!more) return std::unexpected(more.error());
      if (!*more) return size_t{0};
    }
    const size_t count = std::min(room.size(), text_.size() - given_);
    std::memcpy(room.data(), text_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::unexpected<Diagnostic> truncated() const {
    return fail_at(path_, 0, 0,
                   "truncated: the index at the end of the .tracez is missing or leads out of it; copy or trace the file again");
  }
  std::unexpected<Diagnostic> damaged(const std::string& why) const {
    return fail_at(path_, 0, 0, "damaged .tracez data (" + why + "); copy or trace the file again");
  }

  bool bytes_at(uint64_t place, std::span<char> room) {
    return fseeko(file_.get(), static_cast<off_t>(place), SEEK_SET) == 0 &&
           std::fread(room.data(), 1, room.size(), file_.get()) == room.size();
  }
  template <typename Number>
  bool number_at(uint64_t place, Number& number) {
    return bytes_at(place, std::span(reinterpret_cast<char*>(&number), sizeof(number)));
  }

  // Reads the next number of the index.
  template <typename Number>
  bool next(Number& number) {
    if (index_.size() - index_read_ < sizeof(number)) return false;
    std::memcpy(&number, index_.data() + index_read_, sizeof(number));
    index_read_ += sizeof(number);
    return true;
  }

  Expected<void> read_header() {
    text_.resize(std::min(kLongestHeader, index_at_));
    if (!bytes_at(0, text_)) return truncated();
    const size_t end = text_.find('\0');
    if (end == std::string::npos) return damaged("no header");
    text_.resize(end);
    text_ += "\n";
    uint32_t bytes = 0;
    const uint64_t behind = end + 1 + sizeof(bytes) + sizeof(uint32_t);
    if (!number_at(end + 1, bytes) || behind > index_at_ || bytes > index_at_ - behind) return truncated();
    if (bytes > kLargestDictionary) return damaged("a dictionary of more than 16 MiB");
    std::vector<char> dictionary(bytes);
    if (!bytes_at(behind, dictionary)) return truncated();
    if (ZSTD_isError(ZSTD_DCtx_loadDictionary(context_.get(), dictionary.data(), dictionary.size())) != 0)
      return damaged("its dictionary");
    return {};
  }

  // Decompresses more text. Returns false at the end.
  Expected<bool> read_on() {
    if (pieces_ > 0) return read_piece();
    if (warp_ < warps_) return begin_warp();
    if (in_cta_) text_ += "#END_TB\n";
    in_cta_ = false;
    if (ctas_ == 0) return !text_.empty();
    --ctas_;
    return begin_cta();
  }

  Expected<bool> begin_cta() {
    constexpr size_t kWords = 11;
    std::array<uint32_t, kWords> words{};
    for (uint32_t& word : words) {
      if (!next(word)) return truncated();
    }
    text_ += "#BEGIN_TB\nthread block = " + std::to_string(words[0]) + "," + std::to_string(words[1]) + "," +
             std::to_string(words[2]) + "\n";
    in_cta_ = true;
    warp_ = 0;
    warps_ = words.back();
    return true;
  }

  Expected<bool> begin_warp() {
    uint32_t instructions = 0;
    uint32_t pieces = 0;
    uint32_t ignored = 0;
    if (!next(instructions) || !next(pieces) || !next(piece_at_)) return truncated();
    for (uint32_t i = 0; i < pieces; ++i) {
      if (!next(ignored)) return truncated();
    }
    const uint32_t warp = warp_++;
    if (instructions == 0) return true;
    std::array<uint32_t, 2> counts{};
    if (piece_at_ > index_at_ || index_at_ - piece_at_ < sizeof(counts) || !number_at(piece_at_, counts)) return truncated();
    if (counts[0] != instructions || counts[1] != pieces) return damaged("the index and warp " + std::to_string(warp) + " differ");
    pieces_ = pieces;
    piece_at_ += sizeof(counts);
    text_ += "warp = " + std::to_string(warp) + "\ninsts = " + std::to_string(instructions) + "\n";
    return true;
  }

  Expected<bool> read_piece() {
    uint32_t bytes = 0;
    if (index_at_ - piece_at_ < sizeof(bytes) || !number_at(piece_at_, bytes)) return truncated();
    piece_at_ += sizeof(bytes);
    if (bytes > index_at_ - piece_at_) return truncated();
    frame_.resize(bytes);
    if (!bytes_at(piece_at_, frame_)) return truncated();
    piece_at_ += bytes;
    --pieces_;
    const unsigned long long size = ZSTD_getFrameContentSize(frame_.data(), frame_.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargestPiece)
      return damaged("the size of a piece");
    text_.resize(size);
    const size_t made = ZSTD_decompressDCtx(context_.get(), text_.data(), text_.size(), frame_.data(), frame_.size());
    if (ZSTD_isError(made) != 0) return damaged(ZSTD_getErrorName(made));
    text_.resize(made);
    if (!text_.ends_with('\n')) text_ += '\n';
    return true;
  }

  std::string path_;
  std::string content_;  // the file, if it is in memory
  File file_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_{ZSTD_createDCtx()};
  uint64_t index_at_ = 0;
  std::vector<char> index_;
  size_t index_read_ = 0;
  std::string text_;  // text; `given_` bytes of it have been returned
  size_t given_ = 0;
  std::vector<char> frame_;
  uint32_t ctas_ = 0;  // CTAs that have not begun
  bool in_cta_ = false;
  uint32_t warps_ = 0;   // warps of the CTA
  uint32_t warp_ = 0;    // next warp
  uint32_t pieces_ = 0;  // unread pieces of the current warp
  uint64_t piece_at_ = 0;
};

Expected<std::unique_ptr<ByteSource>> opened(std::unique_ptr<TracezSource> source) {
  if (auto opened = source->open(); !opened) return std::unexpected(opened.error());
  return source;
}

}  // namespace

Expected<std::unique_ptr<ByteSource>> open_tracez(const std::string& path, File file) {
  return opened(std::make_unique<TracezSource>(path, std::string(), std::move(file)));
}

Expected<std::unique_ptr<ByteSource>> tracez_of(const std::string& path, std::string content) {
  return opened(std::make_unique<TracezSource>(path, std::move(content), nullptr));
}

}  // namespace warpfold::traces::accelsim
