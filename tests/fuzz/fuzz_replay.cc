// Kernels as text, simulated on a small machine: folded or not, by classes of SMs or all of them, the same end. libFuzzer's entry.

#include <numeric>

#include "tests/fuzz/input.h"
#include "tests/fuzz/replays.h"
#include "traces/trace_file.h"

namespace {

// Limits of an input, so that a long run is always a fault.
constexpr uint64_t kMostInstructions = 20'000;
constexpr uint64_t kMostCtas = 100;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  const auto kernels = traces::parse_kernels("fuzz.wfs", fuzz::text_of(data, size));
  if (!kernels) return 0;
  uint64_t instructions = 0;
  test::Scenario scenario;
  for (const traces::Kernel& kernel : *kernels) {
    const uint64_t issued = traces::issued_instructions(kernel);
    if (issued > kMostInstructions || kernel.ctas() > kMostCtas) return 0;
    instructions += issued;
    if (kernel.architecture != kernels->front().architecture) return 0;
  }
  if (instructions > kMostInstructions || kernels->empty()) return 0;
  const std::string& architecture = kernels->front().architecture;
  if (architecture != "sm_80" && architecture != "sm_90" && architecture != "sm_100") return 0;
  scenario.gpu = test::one_sm(architecture == "sm_80" ? "a100_sxm" : architecture == "sm_90" ? "h100_sxm" : "b200_sxm");
  scenario.gpu.set_sm_count(2);
  scenario.kernels = *kernels;
  for (size_t k = 0; k < scenario.kernels.size(); ++k)
    scenario.launches.push_back(test::launch(scenario.kernels[k], static_cast<int>(k % 2)));
  fuzz::require_same_replays(scenario);
  return 0;
}
