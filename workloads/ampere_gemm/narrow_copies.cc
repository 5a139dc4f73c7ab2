#include "workloads/ampere_gemm/narrow_copies.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>

#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

using isa::Instruction;

constexpr uint16_t kStridedWavefronts = 4;  // lanes 16 bytes apart
constexpr uint8_t kStall = 2;               // mean stalls of copy_gemm.cu's LOP3, SHF, ISETP and LDGSTS: 1.5 to 2.0
// Products of a pass that ptxas leaves behind LDGDEPBAR and the barrier: 14 of 64 and 17 of 128 in copies of 2 elements.
constexpr size_t kBehind = 8;  // one of so many

using Queue = std::deque<Instruction>;

bool is_copy(const isa::Architecture& architecture, const Instruction& instruction) {
  return architecture.info(instruction).behaviour == isa::Behaviour::kCopyAsync;
}

bool is_product(const Instruction& instruction) {
  return instruction.mnemonic.starts_with("HMMA") || instruction.mnemonic.starts_with("IMMA") ||
         instruction.mnemonic.starts_with("QMMA");
}

// Moves up to `most` instructions to `code`, which take their stall cycles from its last instruction.
void hide(Queue& waiting, size_t most, std::vector<Instruction>& code) {
  const size_t at = code.size() - 1;
  const size_t free = code[at].control.stall > 1 ? code[at].control.stall - 1U : 0U;
  const size_t moved = std::min({most, free, waiting.size()});
  if (moved == 0) return;
  const auto stall = static_cast<uint8_t>(std::clamp<size_t>(free / moved, 1, kStall));
  for (size_t i = 0; i < moved; ++i) {
    code.push_back(std::move(waiting.front()));
    code.back().control.stall = stall;
    waiting.pop_front();
  }
  code[at].control.stall = static_cast<uint8_t>(code[at].control.stall - moved * stall);
}

}  // namespace

std::vector<Instruction> narrow_copies(const isa::Architecture& architecture, const AmpereGemmPlan& plan, const Instruction& wide) {
  Code code(architecture);
  const bool copying = !wide.guard.never();
  const std::string copy = line({copying ? "@P6" : "@!PT", " LDGSTS.E.LTC128B", plan.thread_bytes == 8 ? ".64 " : " ",
                                 wide.operands[0].text, ", ", wide.operands[1].text});
  if (plan.thread_bytes == 4) code.add("IADD3 R2, R3, 0x4, RZ");
  for (uint32_t i = 0; i < plan.accesses(); ++i) {
    code.add("LOP3.LUT R2, R3, 0x1, RZ, 0xc0, !PT").add("SHF.R.U32.HI R2, RZ, 0x1, R2").add("ISETP.NE.U32.AND P6, PT, R2, RZ, PT");
    isa::Effect effect = wide.effect;
    if (copying && i > 0) effect = {.l1_hit = true};
    effect.wavefronts = kStridedWavefronts;
    code.add(copy, effect);
  }
  std::vector<Instruction> instructions = code.instructions();
  for (Instruction& instruction : instructions) instruction.control = {.stall = kStall};
  return instructions;
}

std::vector<Instruction> with_narrow_copies(const isa::Architecture& architecture, const AmpereGemmPlan& plan,
                                            std::vector<Instruction> code) {
  if (plan.accesses() == 1) return code;
  Queue waiting;
  std::vector<Instruction> narrowed;
  const auto all = static_cast<size_t>(std::ranges::count_if(code, is_product));
  const size_t ahead = all - all / kBehind;
  for (const Instruction& instruction : code) {
    if (is_copy(architecture, instruction))
      std::ranges::move(narrow_copies(architecture, plan, instruction), std::back_inserter(waiting));
  }
  size_t placed = 0;
  const auto place = [&](Instruction&& instruction) {
    const bool product = is_product(instruction);
    narrowed.push_back(std::move(instruction));
    if (!product || placed++ >= ahead) return;
    const size_t left = ahead - placed + 1;
    hide(waiting, (waiting.size() + left - 1) / left, narrowed);
  };
  bool behind = false;
  for (auto instruction = code.begin(); instruction != code.end(); ++instruction) {
    if (is_copy(architecture, *instruction)) continue;
    if (!behind && architecture.info(*instruction).behaviour == isa::Behaviour::kCopyAsyncCommit) {
      behind = true;
      // Products come in front of the commit until the copies are placed.
      for (auto next = instruction; next != code.end() && placed < ahead;) {
        if (!is_product(*next)) {
          ++next;
          continue;
        }
        place(std::move(*next));
        next = code.erase(next);  // behind `instruction`, which stays valid
      }
      std::ranges::move(waiting, std::back_inserter(narrowed));
      waiting.clear();
    }
    place(std::move(*instruction));
  }
  return narrowed;
}

}  // namespace warpfold::workloads
