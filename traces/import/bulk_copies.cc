#include "traces/import/bulk_copies.h"

#include <algorithm>
#include <bit>

#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

const Source& memory_operand(const Op& op, size_t position) {
  for (const Source& source : op.sources) {
    if (source.kind != Source::Kind::kMemory) continue;
    if (position == 0) return source;
    --position;
  }
  throw NotFollowed{op.index, "operands are missing"};
}

Word uniform_word(const Warp& warp, const Op& op, const Source& source, uint32_t position) {
  const size_t number = size_t{source.uniform} + position;
  if (number >= warp.state.uniform.size()) throw NotFollowed{op.index, "it names no uniform registers"};
  return warp.state.uniform[number];
}

const TensorMapFacts& tensor_map(const Warp& warp, const Op& op, uint32_t active) {
  const Source& source = memory_operand(op, 1);
  const uint64_t low = fixed_value(uniform_word(warp, op, source, 0), op, active);
  const uint64_t address = uint64_t{fixed_value(uniform_word(warp, op, source, 1), op, active)} << 32 | low;
  const auto found = warp.launch.tensor_maps.find(address);
  if (found != warp.launch.tensor_maps.end()) return found->second;
  throw NotFollowed{op.index,
                    "its tensor map is no parameter of the launch description; state it in its place, as parameter { tensor_map { "
                    "array: \"a\" element_bytes: 2 extent: 8192 extent: 8192 box: 64 box: 128 } }"};
}

void check_form(const Op& op, const TensorMapFacts& map) {
  for (const std::string_view form : {"IM2COL", "REDUCE", "GATHER4", "SCATTER4"}) {
    if (op.has(form)) throw NotFollowed{op.index, "TMA of this form is not followed; tiles are"};
  }
  if (op.base != "UTMALDG" && op.base != "UTMASTG") throw NotFollowed{op.index, "this form of TMA is not followed"};
  if (!op.has(std::to_string(map.box.size()) + "D")) {
    throw NotFollowed{op.index, "its tensor map has " + std::to_string(map.box.size()) + " dimensions in the launch description"};
  }
}

// Bits 16 to 31 of the uniform register after the addresses hold the CTA mask (compiled code of CUDA 13.0: UPRMT UR8,
// URZ, 0x5410, mask).
constexpr uint32_t kMaskShift = 16;

// Returns the places of the box's rows, and how coordinates move them.
Touch touch_of(const Warp& warp, const Op& op, const TensorMapFacts& map, uint32_t active, uint32_t receivers) {
  const uint32_t first = op.behaviour == isa::Behaviour::kBulkLoad ? 2 : 1;
  Touch touch;
  touch.op = op.index;
  touch.array = map.array;
  touch.access_bytes = map.box[0] * map.element_bytes;
  touch.receivers = receivers;
  uint64_t corner = warp.launch.arrays[static_cast<size_t>(map.array)].address;
  for (uint32_t d = 0; d < map.box.size(); ++d) {
    const Word coordinate = bulk_word(warp, op, first + d);
    if ((coordinate.unknown & active) != 0) throw UnknownValue{op.index, coordinate.origin};
    corner += static_cast<uint64_t>(int64_t{static_cast<int32_t>(coordinate.lane[0])}) * map.pitch[d];
    touch.varies |= variables_of(coordinate.varying, kAllLanes);
    for (size_t v = 0; v < touch.slope.size(); ++v)
      touch.slope[v] += int64_t{static_cast<int32_t>(coordinate.slope[v])} * static_cast<int64_t>(map.pitch[d]);
  }
  touch.lanes = {corner};
  for (size_t d = 1; d < map.box.size(); ++d) {
    const size_t rows = touch.lanes.size();
    for (uint64_t i = 1; i < map.box[d]; ++i) {
      for (size_t row = 0; row < rows; ++row) touch.lanes.push_back(touch.lanes[row] + i * map.pitch[d]);
    }
  }
  return touch;
}

// Adds a bulk copy without a tensor map. Operands in compiled code of CUDA 13.0: UBLKCP.S.G [UR of shared memory, of
// the mbarrier], [UR and the next: of memory], UR of the size in units of 16 bytes.
void add_plain_copy(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches) {
  constexpr uint32_t kUnit = 16;
  const bool load = op.instruction->mnemonic == "UBLKCP.S.G";
  if (!load && op.instruction->mnemonic != "UBLKCP.G.S")
    throw NotFollowed{op.index, "a bulk copy of this form is not followed; copies between memory and shared memory of a CTA are"};
  const auto size = std::ranges::find(op.sources, Source::Kind::kUniform, &Source::kind);
  if (size == op.sources.end()) throw NotFollowed{op.index, "operands are missing"};
  effect.bytes = kUnit * fixed_value(warp.read(*size, op), op, active);
  const Source& memory = memory_operand(op, load ? 1 : 0);
  const Word low = uniform_word(warp, op, memory, 0);
  const Word high = uniform_word(warp, op, memory, 1);
  for (const Word& word : {low, high}) {
    if ((word.unknown & active) != 0) throw UnknownValue{op.index, word.origin};
  }
  Touch touch;
  touch.op = op.index;
  touch.array = low.array_of(active) >= 0 ? low.array : high.array_of(active);
  touch.access_bytes = effect.bytes;
  touch.varies = variables_of(united(low.varying, high.varying), active);
  for (size_t v = 0; v < touch.slope.size(); ++v)
    touch.slope[v] = static_cast<int64_t>(uint64_t{high.slope[v]} << 32) + static_cast<int32_t>(low.slope[v]);
  const auto lane = static_cast<size_t>(std::countr_zero(active));
  touch.lanes = {uint64_t{high.lane[lane]} << 32 | low.lane[lane]};
  effect.multicast = 1;
  effect.stream = touch.array;
  if (touches != nullptr) touches->push_back(std::move(touch));
}

}  // namespace

Word bulk_word(const Warp& warp, const Op& op, uint32_t position) {
  return uniform_word(warp, op, memory_operand(op, 0), position);
}

uint32_t receivers_of(const Warp& warp, const Op& op, uint32_t active) {
  if (!op.has("MULTICAST")) return 1U << warp.rank();
  const auto mask = std::ranges::find(op.sources, Source::Kind::kUniform, &Source::kind);
  if (mask == op.sources.end()) throw NotFollowed{op.index, "operands are missing"};
  const uint32_t receivers = fixed_value(warp.read(*mask, op), op, active) >> kMaskShift;
  if (receivers == 0 || receivers >> warp.launch.cluster_ctas() != 0) {
    throw NotFollowed{op.index, "its CTA mask is " + std::to_string(receivers) + " in a cluster of " +
                                    std::to_string(warp.launch.cluster_ctas()) + "; state the launch's, as cluster { x: 2 }"};
  }
  return receivers;
}

void add_bulk_copy(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches) {
  if (active == 0) return;
  if (op.base.starts_with("UBLK")) return add_plain_copy(warp, op, active, effect, touches);
  const TensorMapFacts& map = tensor_map(warp, op, active);
  check_form(op, map);
  effect.bytes = map.element_bytes;
  for (const uint32_t side : map.box) effect.bytes *= side;
  // The other receivers send this CTA as many bytes as it sends to them.
  const auto receivers = static_cast<uint32_t>(std::popcount(receivers_of(warp, op, active)));
  effect.bytes *= receivers;
  effect.multicast = static_cast<uint8_t>(receivers);
  effect.stream = map.array;
  if (touches != nullptr) touches->push_back(touch_of(warp, op, map, active, receivers));
}

}  // namespace warpfold::sass
