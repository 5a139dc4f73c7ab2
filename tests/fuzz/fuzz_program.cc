// Random programs by their seed, the input's first eight bytes. The programs go through text and file and back, with their own
// control codes and with assigned ones. The other bytes change letters of the text, which then gives kernels or one diagnostic.
// libFuzzer's entry.

#include <cstring>

#include "isa/architecture.h"
#include "isa/control_code_assigner.h"
#include "tests/fuzz/round_trip.h"
#include "tests/support/random_programs.h"
#include "traces/trace_file.h"

namespace {

using namespace warpfold;

constexpr int kLongestStall = 15;

void assign(const isa::Architecture& architecture, std::vector<traces::Node>& body, bool loop) {
  for (traces::Node& node : body) {
    if (auto* inner = std::get_if<traces::Loop>(&node)) {
      assign(architecture, inner->body, inner->body.size() == 1);
      continue;
    }
    auto& code = std::get<traces::Block>(node).code;
    isa::assign_control_codes(architecture, code, loop);
    for (const isa::BrokenDependence& broken : isa::check_control_codes(architecture, code, loop))
      fuzz::require(broken.needed > kLongestStall, "assigned control codes break a dependence");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t seed = 0;
  std::memcpy(&seed, data, std::min(size, sizeof seed));
  const auto any = rc::gen::exec([] {
    const test::Scenario scenario = test::one_in(3) ? test::any_recurring_scenario() : test::any_scenario();
    return std::make_shared<const std::vector<traces::Kernel>>(scenario.kernels);
  });
  std::vector<traces::Kernel> kernels = *any(rc::Random(seed), 100).value();
  fuzz::require_round_trip(kernels);
  std::string text = traces::format_kernels(kernels);
  for (traces::Kernel& kernel : kernels) {
    for (traces::Role& role : kernel.roles) assign(**isa::Architecture::find(kernel.architecture), role.body, false);
  }
  fuzz::require_round_trip(kernels);

  constexpr size_t kChange = 3;  // bytes: two of a place, one of the letter there
  for (size_t at = sizeof seed; at + kChange <= size; at += kChange)
    text[(data[at] + 256U * data[at + 1]) % text.size()] = static_cast<char>(data[at + 2]);
  const auto changed = traces::parse_kernels("changed.wfs", text);
  if (!changed) return fuzz::require_message(changed.error()), 0;
  fuzz::require_round_trip(*changed);
  return 0;
}
