// Any text is kernels whose layout is its own layout, and which survive text and file, or one diagnostic. libFuzzer's entry.

#include "tests/fuzz/round_trip.h"
#include "traces/text_layout.h"
#include "traces/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  const std::string text = fuzz::text_of(data, size);
  const auto laid_out = traces::lay_out_text("fuzz.wfs", text);
  const auto kernels = traces::parse_kernels("fuzz.wfs", text);
  fuzz::require(laid_out.has_value() == kernels.has_value(), "a text has a layout and no kernels, or kernels and no layout");
  if (!kernels) return fuzz::require_message(kernels.error()), 0;
  const auto again = traces::lay_out_text("fuzz.wfs", *laid_out);
  fuzz::require(again && *again == *laid_out, "laid out twice, it differs");
  fuzz::require_round_trip(*kernels);
  return 0;
}
