#include "traces/import/assumed_opcodes.h"

#include <algorithm>
#include <charconv>

#include "configs/escape/quoted.h"

namespace warpfold::sass {
namespace {

constexpr uint32_t kLongestLatency = 1000;  // cycles

bool computes(const isa::OpcodeInfo& info) {
  return (info.fixed_latency() || info.behaviour == isa::Behaviour::kVariableMath) && info.destinations == 1 &&
         info.predicate_destinations == 0;
}

}  // namespace

bool AssumedOpcode::covers(std::string_view mnemonic) const {
  return mnemonic.starts_with(opcode) && (mnemonic.size() == opcode.size() || mnemonic[opcode.size()] == '.');
}

Expected<AssumedOpcode> parse_assumed_opcode(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t comma = text.find(',', equals == std::string::npos ? 0 : equals);
  AssumedOpcode assumed;
  if (equals != std::string::npos && comma != std::string::npos) {
    assumed.opcode = text.substr(0, equals);
    assumed.pipe = text.substr(equals + 1, comma - equals - 1);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + comma + 1, end, assumed.latency);
    const bool number = error == std::errc{} && stop == end;
    if (number && !assumed.opcode.empty() && assumed.latency > 0 && assumed.latency <= kLongestLatency) return assumed;
  }
  return fail("--assume " + escape::quoted(text) + ": expected OPCODE=pipe,latency with 1 to " + std::to_string(kLongestLatency) +
              " cycles, as FOO.BAR=alu,5");
}

uint32_t latency_of(const isa::Architecture& architecture, const isa::OpcodeInfo& info) {
  return info.fixed_latency() ? static_cast<uint32_t>(architecture.register_latency(info, info)) : info.result_cycles[0];
}

std::vector<std::string> stand_ins(const isa::Architecture& architecture, const AssumedOpcode& assumed) {
  std::vector<const isa::OpcodeInfo*> found;
  for (const isa::OpcodeInfo& info : architecture.opcodes()) {
    if (computes(info) && isa::pipe_name(info.pipe) == assumed.pipe) found.push_back(&info);
  }
  std::ranges::stable_sort(found, {}, [&](const isa::OpcodeInfo* info) {
    return std::abs(static_cast<int64_t>(latency_of(architecture, *info)) - static_cast<int64_t>(assumed.latency));
  });
  std::vector<std::string> names;
  for (const isa::OpcodeInfo* info : found) names.push_back(info->name);
  return names;
}

}  // namespace warpfold::sass
