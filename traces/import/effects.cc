#include "traces/import/effects.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "traces/import/bulk_copies.h"
#include "traces/import/execute.h"
#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

constexpr uint32_t kSectorBytes = 32;
constexpr uint32_t kBankBytes = 4;
constexpr uint32_t kBanks = 32;
constexpr uint16_t kNoLimitOfGroups = 0xffff;

using Behaviour = isa::Behaviour;

uint32_t access_bytes(const Op& op) {
  for (const std::string_view modifier : op.modifiers) {
    if (modifier == "128") return 16;
    if (modifier == "64") return 8;
    if (modifier == "U16" || modifier == "S16") return 2;
    if (modifier == "U8" || modifier == "S8") return 1;
  }
  return 4;
}

const Source* memory_operand(const Op& op, bool last) {
  const Source* found = nullptr;
  for (const Source& source : op.sources) {
    if (source.kind != Source::Kind::kMemory) continue;
    found = &source;
    if (!last) break;
  }
  return found;
}

// Sectors of the lanes at `shift` bytes behind where they are.
size_t sectors_at(const Touch& touch, uint64_t shift) {
  std::set<uint64_t> sectors;
  for (const uint64_t lane : touch.lanes) {
    const uint64_t first = (lane + shift) / kSectorBytes;
    const uint64_t last = (lane + shift + touch.access_bytes - 1) / kSectorBytes;
    for (uint64_t sector = first; sector <= last; ++sector) sectors.insert(sector);
  }
  return sectors.size();
}

// The mean over the positions inside a sector that the variables lead to.
uint32_t mean_sectors(const Touch& touch) {
  uint64_t step = kSectorBytes;
  for (const int64_t slope : touch.slope) step = std::gcd(step, static_cast<uint64_t>(slope < 0 ? -slope : slope));
  if (step == 0) step = kSectorBytes;
  uint64_t total = 0;
  const uint64_t positions = kSectorBytes / step;
  for (uint64_t i = 0; i < positions; ++i) total += sectors_at(touch, i * step);
  return static_cast<uint32_t>((total + positions / 2) / positions);
}

Touch touch_of(const Warp& warp, const Op& op, const Source& operand, uint32_t active) {
  const Warp::Address address = warp.address(operand);
  Touch touch;
  touch.op = op.index;
  touch.access_bytes = access_bytes(op);
  touch.array = address.low.array >= 0 ? address.low.array : address.high.array;
  touch.known = ((address.low.unknown | address.high.unknown) & active) == 0;
  touch.varies = address.low.varies | address.high.varies;
  for (int v = 0; v < kVariables; ++v) {
    const auto slope = static_cast<size_t>(v);
    touch.slope[slope] =
        static_cast<int64_t>(uint64_t{address.high.slope[slope]} << 32) + static_cast<int32_t>(address.low.slope[slope]);
  }
  for (int lane = 0; lane < kLanes && touch.known; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    touch.lanes.push_back(uint64_t{address.high.lane[lane]} << 32 | address.low.lane[lane]);
  }
  return touch;
}

void add_global(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches) {
  const Source* operand = memory_operand(op, true);
  if (operand == nullptr || active == 0) return;
  Touch touch = touch_of(warp, op, *operand, active);
  uint32_t sectors = 0;
  const auto answer = warp.launch.answers.find(op.line);
  if (answer != warp.launch.answers.end() && answer->second.kind == AnswerFacts::Kind::kSectors) {
    sectors = static_cast<uint32_t>(answer->second.value);
  } else if (touch.known) {
    sectors = mean_sectors(touch);
  } else {
    const Warp::Address address = warp.address(*operand);
    throw UnknownValue{op.index, (address.low.unknown & active) != 0 ? address.low.origin : address.high.origin};
  }
  effect.bytes = sectors * kSectorBytes;
  effect.stream = touch.array;
  if (touches != nullptr) touches->push_back(std::move(touch));
}

// Passes of one group of lanes: words of a bank that differ take one each.
uint16_t conflicts(const std::vector<uint64_t>& addresses, uint32_t bytes) {
  std::array<std::set<uint64_t>, kBanks> words;
  for (const uint64_t address : addresses) {
    for (uint64_t word = address / kBankBytes; word <= (address + bytes - 1) / kBankBytes; ++word)
      words[word % kBanks].insert(word);
  }
  size_t most = 0;
  for (const auto& bank : words) most = std::max(most, bank.size());
  return static_cast<uint16_t>(most);
}

// 32-bit accesses go in one group of 32 lanes, 64-bit ones in two, 128-bit ones in four.
void add_shared(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect) {
  const Source* operand = memory_operand(op, false);
  if (operand == nullptr || active == 0) return;
  const Warp::Address address = warp.address(*operand);
  if ((address.low.unknown & active) != 0) return;  // as without conflicts
  const bool matrices = op.behaviour == Behaviour::kLoadMatrix || op.base == "STSM";
  const uint32_t bytes = matrices ? 16 : access_bytes(op);
  const int group = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32;
  int lanes = kLanes;
  if (matrices) lanes = op.has("4") ? 32 : op.has("2") ? 16 : 8;  // addresses of rows
  uint32_t wavefronts = 0;
  for (int first = 0; first < lanes; first += group) {
    std::vector<uint64_t> addresses;
    for (int lane = first; lane < std::min(first + group, lanes); ++lane) {
      if ((active >> lane & 1) != 0) addresses.push_back(address.low.lane[lane]);
    }
    wavefronts += conflicts(addresses, bytes);
  }
  effect.wavefronts = static_cast<uint16_t>(wavefronts);
}

uint32_t known_number(const Warp& warp, const Op& op, size_t position) {
  const Word word = warp.read(word_source(op, position), op);
  if (word.unknown != 0) throw UnknownValue{op.index, word.origin};
  if (word.depends() != 0) throw NotLinear{word.depends()};
  return word.lane[0];
}

size_t words_of(const Op& op) {
  return static_cast<size_t>(std::ranges::count_if(op.sources, [](const Source& source) { return !is_predicate(source); }));
}

void add_barrier(const Warp& warp, const Op& op, isa::Effect& effect) {
  effect.barrier = static_cast<int16_t>(words_of(op) > 0 ? known_number(warp, op, 0) & 15 : 0);
  const uint32_t threads = words_of(op) > 1 ? known_number(warp, op, 1) & 0xfff : 0;
  effect.count = static_cast<uint16_t>(threads != 0 ? threads : warp.launch.warps() * kLanes);
}

}  // namespace

uint32_t destination_words(const Op& op) {
  for (const isa::Operand& operand : op.instruction->operands) {
    const bool word = operand.kind == isa::OperandKind::kRegister || operand.kind == isa::OperandKind::kUniformRegister;
    if (operand.destination && word) return std::max<uint32_t>(operand.width, 1);
  }
  return 0;
}

isa::Effect effect_of(const Warp& warp, const Op& op, uint32_t active, std::vector<Touch>* touches) {
  isa::Effect effect;
  switch (op.behaviour) {
    case Behaviour::kLoadGlobal:
    case Behaviour::kStoreGlobal:
      if (op.base != "LDL" && op.base != "STL") add_global(warp, op, active, effect, touches);
      break;
    case Behaviour::kCopyAsync:
      add_global(warp, op, active, effect, touches);
      break;
    case Behaviour::kLoadShared:
    case Behaviour::kStoreShared:
    case Behaviour::kLoadMatrix:
      add_shared(warp, op, active, effect);
      break;
    case Behaviour::kBarrierSync:
    case Behaviour::kBarrierArrive:
      if (active != 0) {
        add_barrier(warp, op, effect);
      } else {
        effect.barrier = 0;
        effect.count = static_cast<uint16_t>(warp.launch.warps() * kLanes);
      }
      break;
    case Behaviour::kCopyAsyncCommit:
      effect.commit = true;
      break;
    case Behaviour::kCopyAsyncWait:
      effect.count = static_cast<uint16_t>(word_source(op, 1).immediate);
      break;
    case Behaviour::kBulkLoad:
    case Behaviour::kBulkStore:
      add_bulk_copy(warp, op, active, effect, touches);
      break;
    case Behaviour::kBulkWait:
      // UTMACMDFLUSH ends a group and waits for none.
      effect.count = op.base == "DEPBAR" ? static_cast<uint16_t>(word_source(op, 1).immediate) : kNoLimitOfGroups;
      break;
    case Behaviour::kMbarrierArrive:
      if (active != 0) effect.tx_bytes = expected_bytes(warp, op, active);
      break;
    case Behaviour::kWgmma:
      effect.commit = std::ranges::any_of(op.sources, [](const Source& source) { return source.text.starts_with("gsb"); });
      break;
    case Behaviour::kWgmmaWait:
      effect.count = static_cast<uint16_t>(word_source(op, 1).immediate);
      break;
    case Behaviour::kSetMaxRegisters:
      effect.count = static_cast<uint16_t>(word_source(op, 0).immediate);
      break;
    default:
      break;
  }
  return effect;
}

}  // namespace warpfold::sass
