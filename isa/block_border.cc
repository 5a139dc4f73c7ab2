#include "isa/block_border.h"

#include <algorithm>

#include "isa/architecture.h"
#include "isa/dependences.h"

namespace warpfold::isa {

uint8_t held_counters(const std::vector<Instruction>& code) {
  unsigned held = 0;
  for (const Instruction& instruction : code) {
    held &= ~unsigned{instruction.control.wait_mask};
    for (const uint8_t counter : {instruction.control.write_counter, instruction.control.read_counter}) {
      if (counter != kNoCounter) held |= 1U << counter;
    }
  }
  return static_cast<uint8_t>(held);
}

int missing_cycles(const Architecture& architecture, const std::vector<Instruction>& before,
                   const std::vector<Instruction>& after) {
  // Only instructions near the border matter: no fixed latency is longer than longest_latency().
  size_t first = before.size();
  for (int cycles = 0; first > 0 && cycles < architecture.longest_latency();)
    cycles += std::max<int>(1, before[--first].control.stall);
  size_t end = 0;
  for (int cycles = 0; end < after.size() && cycles < architecture.longest_latency();)
    cycles += std::max<int>(1, after[end++].control.stall);
  std::vector<Instruction> joined(before.begin() + static_cast<std::ptrdiff_t>(first), before.end());
  const size_t border = joined.size();
  joined.insert(joined.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<int> times(joined.size(), 0);
  for (size_t i = 1; i < joined.size(); ++i) times[i] = times[i - 1] + std::max<int>(1, joined[i - 1].control.stall);
  int missing = 0;
  for (const Dependence& dependence : find_dependences(architecture, joined, false)) {
    const bool across = dependence.producer < border && dependence.consumer >= border;
    if (!across || dependence.protection != Protection::kStall) continue;
    missing = std::max(missing, dependence.cycles - (times[dependence.consumer] - times[dependence.producer]));
  }
  return missing;
}

void remove_copy_counter(const Architecture& architecture, std::vector<Instruction>& code) {
  unsigned counted = 0;
  for (Instruction& instruction : code) {
    if (architecture.info(instruction).behaviour != Behaviour::kCopyAsyncCommit) continue;
    counted |= 1U << instruction.control.write_counter;
    instruction.control.write_counter = kNoCounter;
  }
  for (Instruction& instruction : code) instruction.control.wait_mask &= static_cast<uint8_t>(~counted);
}

}  // namespace warpfold::isa
