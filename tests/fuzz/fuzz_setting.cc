// Settings, one a line, of a scenario with most of the objects that a path can lead to: a change, or a message and no change at
// all. libFuzzer's entry.

#include <google/protobuf/util/message_differencer.h>

#include "configs/load.h"
#include "configs/settings.h"
#include "tests/fuzz/input.h"

namespace {

constexpr std::string_view kScenario = R"(
  name: "s" gpu_file: "h100_sxm"
  parameter { name: "seq" value: 512 sets { path: "kernel.qkv.hopper_gemm.m" } }
  kernel {
    name: "qkv"
    hopper_gemm { m: 512 n: 512 k: 512 type: BF16 tile_m: 128 tile_n: 128 tile_k: 64 schedule: COOPERATIVE swizzle: 8 }
  }
  kernel { name: "rng" stream: 1 after: "qkv" philox { rounds: 7 heads: 2 queries: 256 keys: 256 } }
  kernel { name: "copy" elementwise { operation: COPY elements: 4096 element_bytes: 2 } }
  gpu { sm_count: 4 sm { tensor { scale: 1 } } }
  policy { kind: CARVE_OUT reserve { kernel: "rng" register_percent: 6 shared_memory_percent: 7 } }
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const configs::Scenario written = [] {
    configs::Scenario scenario;
    const auto parsed = configs::parse_text("scenario", kScenario, scenario);
    fuzz::require(parsed.has_value(), parsed ? "" : parsed.error().text());
    return scenario;
  }();
  configs::Scenario scenario = written;
  for (const std::string& line : fuzz::lines_of(fuzz::text_of(data, size))) {
    const auto change = configs::parse_setting(line);
    if (!change) {
      fuzz::require_message(change.error());
      continue;
    }
    const configs::Scenario before = scenario;
    const auto changed = configs::apply_change(scenario, *change);
    if (changed) continue;
    fuzz::require_message(changed.error());
    fuzz::require(google::protobuf::util::MessageDifferencer::Equals(before, scenario), "a setting that failed changed something");
  }
  return 0;
}
