// libFuzzer: whatever an execution trace holds, reading it ends with the storages of its operators or with one message.

#include "tests/fuzz/input.h"
#include "tools/profile/dependences.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  auto source = traces::accelsim::source_of("fuzz.json", fuzz::text_of(data, size));
  if (!source) return fuzz::require_message(source.error()), 0;
  const auto trace = profile::read_execution_trace("fuzz.json", std::move(*source));
  if (!trace) return fuzz::require_message(trace.error()), 0;
  profile::Profile step;
  step.operators = {"", "aten::mm", "aten::add"};
  std::vector<uint32_t> groups;
  for (uint64_t record = 0; record < 200; ++record) {
    step.launches.push_back({.shape = 0, .op = static_cast<uint32_t>(1 + record % 2), .record = record});
    groups.push_back(static_cast<uint32_t>(record % 2));
  }
  const profile::IndependentPairs pairs = profile::independent_pairs(step, *trace, 2, groups);
  for (const auto& [pair, count] : pairs.pairs) fuzz::require(count <= 100, "a launch in two pairs");
  return 0;
}
