// libFuzzer: whatever a table of names holds, reading it ends with one message, or with a table that reads the kernels of a step.

#include "tests/fuzz/profile_read.h"
#include "tools/profile/neighbours.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const std::string configs = WARPFOLD_SOURCE_DIR "/configs";
  static const configs::Gpu gpu = *configs::load_gpu(configs + "/gpus/h100_sxm.textproto");
  static validation::RowMapper mapper(configs + "/gpus", {});
  const auto names = profile::NameTable::parse("fuzz.textproto", fuzz::text_of(data, size));
  if (!names) {
    fuzz::require_message(names.error());
    return 0;
  }
  profile::Profile profile;
  for (const char* name : {"gemm_128", "cast", "gemm_64"})
    profile.shapes.push_back({.name = name, .grid = {112, 2, 1}, .block = {384, 1, 1}, .registers_per_thread = 168, .op = {}});
  for (const uint32_t shape : {0U, 1U, 2U, 0U, profile::Launch::kCopy, 0U})
    profile.launches.push_back({.shape = shape, .stream = 7, .start_us = 0, .us = 1});
  profile::tell_apart(*names, profile);
  for (const profile::LaunchShape& shape : profile.shapes) {
    const profile::Reading reading = read_launch(*names, shape, {gpu, true, configs + "/kernels/operators"}, mapper);
    fuzz::require(reading.run.has_value() == reading.opaque.empty(), "a kernel that is opaque without a reason");
  }
  return 0;
}
