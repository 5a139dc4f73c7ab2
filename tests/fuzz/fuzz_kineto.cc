// libFuzzer: whatever a trace of torch.profiler holds, reading it ends with a profile whose kernels are read, or with one message.

#include "configs/load.h"
#include "tests/fuzz/input.h"
#include "tests/source_dir.h"
#include "tools/profile/kineto_reader.h"
#include "tools/profile/occupied.h"
#include "tools/profile/reading.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const std::string configs = WARPFOLD_SOURCE_DIR "/configs";
  static const configs::Gpu gpu = *configs::load_gpu(configs + "/gpus/h100_sxm.textproto");
  static validation::RowMapper mapper(configs + "/gpus", {});
  auto source = traces::accelsim::source_of("fuzz.json", fuzz::text_of(data, size));
  if (!source) return fuzz::require_message(source.error()), 0;
  const auto profile = profile::read_kineto("fuzz.json", std::move(*source));
  if (!profile) return fuzz::require_message(profile.error()), 0;
  const profile::Occupied occupied = profile::occupied(*profile);
  fuzz::require(occupied.busy_us >= 0 && occupied.overlap_us >= 0 && occupied.gaps_us >= 0, "a negative time");
  const profile::SimulatedGpu on{gpu, true, configs + "/kernels/operators"};
  for (const profile::LaunchShape& shape : profile->shapes) {
    profile::Reading reading = read_launch(profile::NameTable::embedded(), shape, on, mapper);
    occupy_as_traced(shape, reading);
    fuzz::require(reading.run.has_value() == reading.opaque.empty(), "a kernel that is opaque without a reason");
  }
  return 0;
}
