#include "traces/import/effects.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>

#include "configs/escape/quoted.h"
#include "traces/access/opcode_access.h"
#include "traces/access/random_passes.h"
#include "traces/access/shared_wavefronts.h"
#include "traces/import/bulk_copies.h"
#include "traces/import/execute.h"
#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

constexpr uint16_t kNoLimitOfGroups = 0xffff;

using Behaviour = isa::Behaviour;

const Source* memory_operand(const Op& op, bool last) {
  const Source* found = nullptr;
  for (const Source& source : op.sources) {
    if (source.kind != Source::Kind::kMemory) continue;
    found = &source;
    if (!last) break;
  }
  return found;
}

// Means over the positions within a line to which the variables move the touch.
struct Coalesced {
  uint64_t sectors = 0;
  uint64_t wavefronts = 0;
  uint64_t pairs = 0;  // L2's time in pairs of sectors
};

// Returns the lanes' addresses, moved by `shift`. Lanes of local memory that access several words have none: their words lie in
// banks of their own.
access::LaneAccess lanes_of(const Touch& touch, uint64_t shift) {
  access::LaneAccess lanes{.bytes = touch.access_bytes};
  for (size_t lane = 0; lane < touch.lanes.size() && touch.lanes.size() <= size_t{access::kLanes}; ++lane) {
    lanes.addresses[lane] = touch.lanes[lane] + shift;
    lanes.mask |= 1U << lane;
  }
  return lanes;
}

Coalesced coalesced(const Op& op, access::Access kind, const Touch& touch) {
  uint64_t step = access::kLineBytes;
  for (const int64_t slope : touch.slope) step = std::gcd(step, static_cast<uint64_t>(slope < 0 ? -slope : slope));
  Coalesced total;
  const uint64_t positions = access::kLineBytes / step;
  for (uint64_t i = 0; i < positions; ++i) {
    const std::vector<access::LineTouch> lines = lines_of(touch, i * step);
    total.sectors += access::sector_count(lines);
    total.wavefronts += access::global_wavefronts(kind, op.instruction->mnemonic, lanes_of(touch, i * step), lines);
    total.pairs += kind == access::Access::kGlobalStore ? access::store_pairs(lines) : access::pair_count(lines);
  }
  const auto mean = [positions](uint64_t sum) { return (sum + positions / 2) / positions; };
  return {mean(total.sectors), mean(total.wavefronts), mean(total.pairs)};
}

Touch touch_of(const Warp& warp, const Op& op, const Source& operand, uint32_t active) {
  const Warp::Address address = warp.address(operand);
  Touch touch;
  touch.op = op.index;
  touch.access_bytes = access::access_bytes(op.instruction->mnemonic);
  touch.array = address.low.array_of(active) >= 0 ? address.low.array : address.high.array_of(active);
  const bool known = ((address.low.unknown | address.high.unknown) & active) == 0;
  touch.random = address.low.drawn || address.high.drawn;
  touch.varies = variables_of(united(address.low.varying, address.high.varying), active);
  // A quotient of the CTA's index may be constant for fewer CTAs than the box has. The high word's limit is that of the low word's
  // carry, which the 64-bit slope includes.
  for (int v = 0; v < kCtaVariables; ++v) {
    const auto variable = static_cast<size_t>(v);
    if (address.low.limit[variable] < warp.extents[variable]) touch.varies |= static_cast<uint8_t>(1U << v);
  }
  for (int v = 0; v < kVariables; ++v) {
    const auto slope = static_cast<size_t>(v);
    touch.slope[slope] =
        static_cast<int64_t>(uint64_t{address.high.slope[slope]} << 32) + static_cast<int32_t>(address.low.slope[slope]);
  }
  for (int lane = 0; lane < kLanes && known; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    touch.lanes.push_back(uint64_t{address.high.lane[lane]} << 32 | address.low.lane[lane]);
  }
  return touch;
}

// Adds the bytes, passes and stream of a touch with known addresses.
void add_touch(const Op& op, access::Access kind, Touch touch, isa::Effect& effect, std::vector<Touch>* touches) {
  const Coalesced asked = coalesced(op, kind, touch);
  effect.bytes = static_cast<uint32_t>(asked.sectors) * access::kSectorBytes;
  const std::string_view opcode = op.instruction->mnemonic;
  if (asked.wavefronts > access::fewest_wavefronts(kind, opcode)) effect.wavefronts = static_cast<uint16_t>(asked.wavefronts);
  if (isa::adds_in_l2(opcode)) {
    const uint32_t passes = access::l2_passes(lanes_of(touch, 0));
    if (passes > asked.sectors) effect.l2_passes = static_cast<uint16_t>(passes);
  } else if (2 * asked.pairs > asked.sectors) {
    effect.l2_passes = static_cast<uint16_t>(asked.pairs);
  }
  if (touch.random) {
    touch.stated_bytes = effect.bytes;
    touch.lanes.clear();
  }
  effect.stream = touch.array;
  if (touches != nullptr) touches->push_back(std::move(touch));
}

void add_global(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches) {
  const Source* operand = memory_operand(op, true);
  if (active == 0) return;
  const AnswerFacts* answer = warp.launch.answer(op.line, AnswerFacts::Kind::kSectors);
  if (is_texture(op)) {
    if (answer == nullptr && warp.asks({op.index, op.index, Question::Kind::kSectors})) return;
    if (answer == nullptr) throw UnknownValue{op.index, op.index};
    effect.bytes = static_cast<uint32_t>(answer->value) * access::kSectorBytes;
    return;
  }
  if (operand == nullptr) return;
  Touch touch = touch_of(warp, op, *operand, active);
  if (answer != nullptr) {
    effect.bytes = static_cast<uint32_t>(answer->value) * access::kSectorBytes;
    if (touch.lanes.empty()) touch.stated_bytes = effect.bytes;
    // More sectors than the lanes fill are not adjacent.
    const auto filled = static_cast<uint32_t>(std::popcount(active)) * touch.access_bytes;
    if (effect.bytes > filled && !isa::adds_in_l2(op.instruction->mnemonic))
      effect.l2_passes = static_cast<uint16_t>(answer->value);
  } else if (!touch.lanes.empty()) {
    return add_touch(op, access::access_of(op.behaviour, op.instruction->mnemonic), std::move(touch), effect, touches);
  } else {
    const Warp::Address address = warp.address(*operand);
    const int origin = (address.low.unknown & active) != 0 ? address.low.origin : address.high.origin;
    if (warp.asks({op.index, origin, Question::Kind::kSectors})) return;
    throw UnknownValue{op.index, origin};
  }
  effect.stream = touch.array;
  if (touches != nullptr) touches->push_back(std::move(touch));
}

// Local memory: the same word of the 32 lanes forms a line. A lane at an unknown address accesses a random word of its
// own.
void add_local(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches) {
  const Source* operand = memory_operand(op, false);
  const uint32_t words = warp.launch.local_words;
  if (active == 0 || operand == nullptr || words == 0) return;
  const Word at = warp.address(*operand).low;
  const auto index = static_cast<size_t>(warp.launch.local_array);
  constexpr uint64_t kLine = uint64_t{4} * kLanes;
  const uint64_t frame = words * kLine;
  Touch touch;
  touch.op = op.index;
  touch.array = warp.launch.local_array;
  touch.access_bytes = std::min(access::access_bytes(op.instruction->mnemonic), 4U);
  touch.varies = variables_of(at.varying, active);
  for (int v = kCtaVariables; v < kVariables; ++v) {
    const auto slope = static_cast<size_t>(v);
    touch.slope[slope] = int64_t{static_cast<int32_t>(at.slope[slope])} * kLanes;
  }
  uint64_t cta = 0;
  uint64_t ctas = warp.launch.warps() * frame;  // bytes from one CTA to the next
  for (size_t d = 0; d < warp.cta.size(); ++d) {
    cta += warp.cta[d] * ctas;
    touch.slope[d] = static_cast<int64_t>(ctas * warp.launch.cluster[d]);
    ctas *= warp.launch.grid[d];
  }
  touch.random = (at.unknown & active) != 0 || at.drawn;
  const uint32_t of_access = std::max(access::access_bytes(op.instruction->mnemonic) / 4, 1U);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    const bool known = (at.unknown >> lane & 1) == 0;
    const uint32_t first = known ? at.lane[lane] / 4 : (lane * 0x9e3779b9U >> 16) % words;
    for (uint32_t word = 0; word < of_access; ++word) {
      touch.lanes.push_back(warp.launch.arrays[index].address + cta + warp.index * frame + (first + word) % words * kLine +
                            uint64_t{lane} * 4 + (known ? at.lane[lane] % 4 : 0));
    }
  }
  if ((at.unknown & active) != 0 && warp.assumed[op.line].empty())
    warp.assumed[op.line] =
        escape::unquoted(op.instruction->mnemonic) + " at an unknown address: every thread at a word of its own";
  const bool store = op.base == "STL";
  add_touch(op, store ? access::Access::kGlobalStore : access::Access::kGlobalLoad, std::move(touch), effect, touches);
}

std::string decimal(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value;
  return text.str();
}

// An unknown address is assumed to be a random word of shared memory, different in each lane.
void add_random_shared(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect) {
  const std::string_view opcode = op.instruction->mnemonic;
  constexpr uint32_t kRows = 8;  // rows of a matrix
  const bool matrices = access::access_of(op.behaviour, opcode) == access::Access::kMatrix;
  const auto lanes = static_cast<uint32_t>(std::popcount(active));
  const double passes = matrices ? access::matrices_of(opcode) * access::random_passes(kRows, access::access_bytes(opcode))
                                 : access::random_passes(lanes, access::access_bytes(opcode));
  effect.wavefronts = static_cast<uint16_t>(std::lround(passes));
  std::string& assumed = warp.assumed[op.line];
  if (!assumed.empty()) return;
  assumed = escape::unquoted(opcode) + " at an unknown address: " + (matrices ? "rows" : std::to_string(lanes) + " lanes") +
            " at random (uniform), " + std::to_string(effect.wavefronts) + " passes of shared memory (expected " + decimal(passes) +
            ")";
}

void add_shared(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect) {
  const Source* operand = memory_operand(op, false);
  if (operand == nullptr || active == 0) return;
  const Warp::Address address = warp.address(*operand);
  if (const AnswerFacts* answer = warp.launch.answer(op.line, AnswerFacts::Kind::kSectors); answer != nullptr) {
    effect.wavefronts = static_cast<uint16_t>(std::clamp<int64_t>(answer->value, 1, std::numeric_limits<uint16_t>::max()));
    return;
  }
  if ((address.low.unknown & active) != 0) return add_random_shared(warp, op, active, effect);
  const std::string_view opcode = op.instruction->mnemonic;
  access::LaneAccess lanes{.addresses = {}, .mask = active, .bytes = access::access_bytes(opcode)};
  std::ranges::copy(address.low.lane, lanes.addresses.begin());
  const bool matrices = access::access_of(op.behaviour, opcode) == access::Access::kMatrix;
  effect.wavefronts = static_cast<uint16_t>(matrices ? access::matrix_wavefronts(lanes, access::matrices_of(opcode))
                                                     : access::shared_wavefronts(lanes));
}

// Different addresses are served one after another. An unknown address is assumed to differ from all others.
void add_constant(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect) {
  if (active == 0 || op.uniform) return;
  const auto lanes = static_cast<uint16_t>(std::popcount(active));
  if (const AnswerFacts* answer = warp.launch.answer(op.line, AnswerFacts::Kind::kSectors); answer != nullptr) {
    effect.wavefronts = static_cast<uint16_t>(std::clamp<int64_t>(answer->value, 1, lanes));
    return;
  }
  const Word offset = warp.constant_offset(op.sources.at(0), 0);
  if ((offset.unknown & active) != 0) {
    effect.wavefronts = lanes;
    if (warp.assumed[op.line].empty()) {
      warp.assumed[op.line] = escape::unquoted(op.instruction->mnemonic) + " at an unknown address: " + std::to_string(lanes) +
                              " lanes at unlike addresses, one after the other";
    }
    return;
  }
  std::set<uint32_t> unlike;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) != 0) unlike.insert(offset.lane[lane]);
  }
  if (unlike.size() > 1) effect.wavefronts = static_cast<uint16_t>(unlike.size());
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

// PTX ISA, instruction descriptor of tcgen05.mma: N / 8 in bits 17 to 22, M / 16 in bits 24 to 28. Of two SMs each has
// half of M.
void add_tensor_shape(const Warp& warp, const Op& op, isa::Effect& effect) {
  const auto descriptor = std::ranges::find_if(op.sources, [](const Source& source) { return source.text.starts_with("idesc["); });
  const bool named = descriptor != op.sources.end() && descriptor->uniform < warp.state.uniform.size();
  const Word word = named ? warp.state.uniform[descriptor->uniform] : Word::nothing(op.index);
  const uint32_t value = word.lane[0];
  const uint32_t rows = (value >> 24 & 0x1f) * 16 / (op.has("2CTA") ? 2 : 1);
  if (word.unknown != 0 || word.depends() != 0 || (rows != 64 && rows != 128)) {
    throw NotFollowed{op.index,
                      "its shape stands in the instruction descriptor, which is no constant that the listing says; the "
                      "workload blackwell_gemm has such products, or write the kernel in Warpfold's own text (.wfs)"};
  }
  effect.rows = static_cast<uint16_t>(rows);
  effect.columns = static_cast<uint16_t>((value >> 17 & 0x3f) * 8);
}

}  // namespace

uint32_t destination_words(const Op& op) {
  for (const isa::Operand& operand : op.instruction->operands) {
    const bool word = operand.kind == isa::OperandKind::kRegister || operand.kind == isa::OperandKind::kUniformRegister;
    if (operand.destination && word) return std::max<uint32_t>(operand.width, 1);
  }
  return 0;
}

bool is_shared_access(const Op& op) {
  return op.behaviour == Behaviour::kLoadShared || op.behaviour == Behaviour::kStoreShared ||
         op.behaviour == Behaviour::kLoadMatrix;
}

bool is_local_access(const Op& op) { return op.base == "LDL" || op.base == "STL"; }

bool is_texture(const Op& op) {
  constexpr std::array<std::string_view, 8> kTextures{"TEX", "TLD", "TLD4", "TXD", "SULD", "SUATOM", "SUST", "SURED"};
  return std::ranges::find(kTextures, op.base) != kTextures.end();
}

isa::Effect effect_of(const Warp& warp, const Op& op, uint32_t active, std::vector<Touch>* touches) {
  isa::Effect effect;
  switch (op.behaviour) {
    case Behaviour::kLoadGlobal:
    case Behaviour::kStoreGlobal:
      if (is_local_access(op)) {
        add_local(warp, op, active, effect, touches);
      } else {
        add_global(warp, op, active, effect, touches);
      }
      break;
    case Behaviour::kCopyAsync:
      add_global(warp, op, active, effect, touches);
      break;
    case Behaviour::kLoadShared:
    case Behaviour::kStoreShared:
    case Behaviour::kLoadMatrix:
      add_shared(warp, op, active, effect);
      break;
    case Behaviour::kLoadConstant:
      add_constant(warp, op, active, effect);
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
      // UTMACMDFLUSH ends a group and does not wait.
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
    case Behaviour::kTcgen05Mma:
      if (active != 0) add_tensor_shape(warp, op, effect);
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
