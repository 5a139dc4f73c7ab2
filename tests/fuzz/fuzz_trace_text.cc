#include <cstdint>
#include <stdexcept>
#include <string>

#include "traces/text_layout.h"

// Any text is kernels whose layout is its own layout, or one diagnostic. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto laid_out = traces::lay_out_text("fuzz.wfs", text);
  if (laid_out && traces::lay_out_text("fuzz.wfs", *laid_out).value() != *laid_out)
    throw std::logic_error("laid out twice, it differs");
  return 0;
}
