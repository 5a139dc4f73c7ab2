// The decompressed content of a trace file: kernels that survive text and file, or one diagnostic. libFuzzer's entry.

#include "tests/fuzz/round_trip.h"
#include "traces/trace_encoding.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  const auto kernels = traces::decode_kernels("fuzz.wft", fuzz::text_of(data, size));
  if (!kernels) return fuzz::require_message(kernels.error()), 0;
  fuzz::require_round_trip(*kernels);
  return 0;
}
