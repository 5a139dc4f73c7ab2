// libFuzzer: whatever a trace of torch.profiler holds, reading it ends with a profile whose kernels are read, or with one message.

#include "tests/fuzz/profile_read.h"
#include "tools/profile/kineto_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  auto source = traces::accelsim::source_of("fuzz.json", fuzz::text_of(data, size));
  if (!source) return fuzz::require_message(source.error()), 0;
  fuzz::require_profile(profile::read_kineto("fuzz.json", std::move(*source)));
  return 0;
}
