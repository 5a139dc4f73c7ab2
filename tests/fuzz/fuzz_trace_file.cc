// A trace file as it lies on disk: kernels, or one diagnostic, whatever its frame claims. libFuzzer's entry.

#include "tests/fuzz/input.h"
#include "traces/compression.h"
#include "traces/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  constexpr size_t kLimit = 1 << 16;
  const std::string bytes = fuzz::text_of(data, size);
  const auto content = traces::decompress("fuzz.wft", bytes, kLimit);
  if (content) fuzz::require(content->size() <= kLimit, "more content than allowed");
  if (!content) fuzz::require_message(content.error());
  const auto kernels = traces::read_trace(scratch.write("fuzz.wft", bytes));
  if (!kernels) fuzz::require_message(kernels.error());
  return 0;
}
