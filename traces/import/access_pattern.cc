#include "traces/import/access_pattern.h"

#include <algorithm>

#include "traces/access/opcode_access.h"
#include "traces/import/effects.h"

namespace warpfold::sass {
namespace {

using Run = AccessPattern::Run;

std::vector<Run> runs_of(const Touch& touch) {
  std::vector<uint64_t> lanes = touch.lanes;
  std::ranges::sort(lanes);
  std::vector<Run> runs;
  for (const uint64_t lane : lanes) {
    if (!runs.empty() && lane < runs.back().address + runs.back().bytes + access::kSectorBytes) {
      runs.back().bytes = std::max(runs.back().bytes, lane + touch.access_bytes - runs.back().address);
    } else {
      runs.push_back({lane, touch.access_bytes});
    }
  }
  return runs;
}

bool are_rows(const std::vector<Run>& runs) {
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].bytes != runs[0].bytes || runs[i].address - runs[i - 1].address != runs[1].address - runs[0].address) return false;
  }
  return runs.size() > 1;
}

}  // namespace

access::Kind access_kind(const Op& op) {
  if (op.behaviour == isa::Behaviour::kBulkLoad) return access::Kind::kLoadPastL1;
  if (op.behaviour == isa::Behaviour::kBulkStore) return access::Kind::kStore;
  if (is_local_access(op)) return op.base == "STL" ? access::Kind::kStore : access::Kind::kLoad;
  return access::kind_of(access::access_of(op.behaviour, op.instruction->mnemonic));
}

AccessPattern pattern_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas) {
  AccessPattern pattern;
  pattern.array = touch.array;
  pattern.step = touch.step;
  pattern.runs = runs_of(touch);
  if (are_rows(pattern.runs)) {
    pattern.dimensions.push_back(
        {.bytes = static_cast<int64_t>(pattern.runs[1].address - pattern.runs[0].address), .count = pattern.runs.size()});
    pattern.runs.resize(1);
  }
  for (const Touch::Stride& stride : touch.strides) {
    pattern.dimensions.push_back({.bytes = stride.bytes, .count = stride.count, .steps = stride.steps});
    pattern.linear = pattern.linear && !(stride.elsewhere && stride.count > 1);
  }
  for (int v = 0; v < kCtaVariables; ++v) {
    const auto variable = static_cast<size_t>(v);
    pattern.slope[variable] = touch.slope[variable];
    pattern.linear = pattern.linear && !(touch.moves_otherwise(v) && ctas[variable] > 1);
  }
  return pattern;
}

}  // namespace warpfold::sass
