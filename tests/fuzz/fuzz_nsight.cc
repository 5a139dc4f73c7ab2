// libFuzzer: whatever a table of Nsight Systems or Nsight Compute holds, reading it ends with a profile whose kernels are read, or
// with one message.

#include "tests/fuzz/profile_read.h"
#include "tools/profile/nsight_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  warpfold::fuzz::require_profile(warpfold::profile::read_nsight_table("fuzz.csv", warpfold::fuzz::text_of(data, size)));
  return 0;
}
