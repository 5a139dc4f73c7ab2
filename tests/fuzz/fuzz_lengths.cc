#include <cstdint>
#include <string_view>

#include "configs/lengths.h"

// Any text is a list of numbers, or one diagnostic at a line of it. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto numbers = warpfold::configs::parse_lengths("fuzz.txt", {reinterpret_cast<const char*>(data), size});
  if (numbers ? numbers->empty() : numbers.error().line < 1) __builtin_trap();
  return 0;
}
