#include "traces/compression.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace warpfold::traces {

namespace {

// A high level of compression: rolled programs are kilobytes, so its time does not matter.
constexpr int kLevel = 15;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

std::string compress(std::string_view content) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
  if (ZSTD_isError(size) != 0) {
    throw std::runtime_error(std::string("zstd cannot compress a trace: ") + ZSTD_getErrorName(size));
  }
  frame.resize(size);
  return frame;
}

Expected<std::string> decompress(const std::string& file, std::string_view frame, size_t limit) {
  constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";  // RFC 8878, section 3.1.1
  if (frame.size() < kMagic.size()) {
    return fail_at(file, 0, 0, "truncated: " + std::to_string(frame.size()) + " bytes are too few for a trace");
  }
  if (!frame.starts_with(kMagic)) {
    return fail_at(file, 0, 0, "not a trace: a trace file (.wft) is a zstd frame, and this file does not begin like one");
  }
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  ZSTD_inBuffer input{frame.data(), frame.size(), 0};
  std::vector<char> piece(ZSTD_DStreamOutSize());
  std::string content;
  while (true) {
    // The size field of the frame is not trusted: memory grows only with data that is really decompressed.
    ZSTD_outBuffer output{piece.data(), piece.size(), 0};
    const size_t left = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(left) != 0) {
      return fail_at(file, 0, 0,
                     std::string("damaged trace: the zstd frame cannot be decompressed (") + ZSTD_getErrorName(left) + ")");
    }
    if (output.pos > limit - content.size()) {
      return fail_at(file, 0, 0, "more than " + std::to_string(limit >> 20U) + " MiB after decompression: refused");
    }
    content.append(piece.data(), output.pos);
    if (left == 0) break;
    if (input.pos == input.size && output.pos < output.size) {
      return fail_at(file, 0, 0, "truncated: the zstd frame ends early, after " + std::to_string(frame.size()) + " bytes");
    }
  }
  if (input.pos != input.size) {
    return fail_at(file, 0, 0, std::to_string(input.size - input.pos) + " trailing bytes after the zstd frame");
  }
  return content;
}

}  // namespace warpfold::traces
