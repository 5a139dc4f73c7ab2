// libFuzzer: whatever a trace file holds, reading it ends with a kernel that is valid or with one message.

#include <cstddef>
#include <cstdint>
#include <string>

#include "traces/accelsim/importer.h"
#include "traces/accelsim/kernel_list.h"
#include "traces/validate.h"

using namespace warpfold;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (auto list = traces::accelsim::source_of("kernelslist.g", text)) {
    (void)traces::accelsim::read_kernel_list("kernelslist.g", *std::move(list));
  }
  auto source = traces::accelsim::source_of("fuzz.traceg", text);
  if (!source) return 0;
  traces::accelsim::ImportOptions options;
  options.caches = [](uint32_t, uint32_t, uint32_t) {
    return traces::access::CacheSpec{.l1_bytes = 1 << 15, .l2_bytes = 1 << 20, .sms = 4, .ctas_per_sm = 2};
  };
  const auto imported = traces::accelsim::import_kernel("fuzz.traceg", *std::move(source), options);
  if (imported && !traces::validate(imported->kernel, "fuzz.traceg")) __builtin_trap();
  if (!imported && imported.error().message.empty()) __builtin_trap();
  return 0;
}
