// libFuzzer: whatever a .tracez holds, reading it ends with its text or with one message.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "traces/accelsim/tracez_source.h"

using namespace warpfold;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kEnough = size_t{1} << 24;  // the index may name one piece many times
  const auto source = traces::accelsim::tracez_of("fuzz.tracez", std::string(reinterpret_cast<const char*>(data), size));
  if (!source) {
    if (source.error().message.empty()) __builtin_trap();
    return 0;
  }
  std::array<char, 4096> room{};
  for (size_t all = 0; all < kEnough;) {
    const auto count = (*source)->read(room);
    if (!count && count.error().message.empty()) __builtin_trap();
    if (!count || *count == 0) break;
    all += *count;
  }
  return 0;
}
