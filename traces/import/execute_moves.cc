#include <bit>

#include "traces/import/execute.h"

// Moves, selections, special registers, constants, exchange between lanes, and local memory.

namespace warpfold::sass {
namespace {

uint32_t access_words(const Op& op) { return op.has("128") ? 4 : op.has("64") ? 2 : 1; }

void mov(Warp& warp, const Op& op, uint32_t mask) {
  const bool pair = op.has("64") || op.base == "MOV64IUR";
  const Word high = pair ? warp.read_next(word_source(op, 0), op, 1) : Word::of(0);  // read before the low half is overwritten
  warp.write(op.destinations.at(0), warp.read(word_source(op, 0), op), mask);
  if (pair) warp.write(op.destinations.at(0), high, mask, 1);
}

void sel(Warp& warp, const Op& op, uint32_t mask) {
  Bits first = Bits::of(true);
  for (const Source& source : op.sources) {
    if (is_predicate(source)) first = warp.read_bits(source);
  }
  const Source& a = word_source(op, 0);
  const Source& b = word_source(op, 1);
  const Word high = op.has("64") ? selected(warp.read_next(a, op, 1), warp.read_next(b, op, 1), first) : Word::of(0);
  warp.write(op.destinations.at(0), selected(warp.read(a, op), warp.read(b, op), first), mask);
  if (op.has("64")) warp.write(op.destinations.at(0), high, mask, 1);
}

Word special(const Warp& warp, const Op& op, std::string_view name) {
  if (name == "SRZ") return Word::of(0);
  if (name == "SR_LANEID") return warp.lane_index();
  for (int dimension = 0; dimension < 3; ++dimension) {
    const char letter = static_cast<char>('X' + dimension);
    const auto is = [&](std::string_view stem) {
      return name.starts_with(stem) && name.size() == stem.size() + 1 && name.back() == letter;
    };
    if (is("SR_TID.")) return warp.thread_index(dimension);
    if (is("SR_CTAID.")) return warp.cta_index(dimension);
    if (is("SR_NTID.")) return Word::of(warp.launch.block[static_cast<size_t>(dimension)]);
    if (is("SR_NCTAID.")) return Word::of(warp.launch.grid[static_cast<size_t>(dimension)]);
  }
  if (name == "SR_CgaCtaId") return Word::of(warp.rank());
  Word word = warp.lane_index();
  const auto masked_lanes = [&](auto bits) {
    for (uint32_t& lane : word.lane) lane = bits(lane);
    return word;
  };
  if (name == "SR_EQMASK") return masked_lanes([](uint32_t lane) { return 1U << lane; });
  if (name == "SR_LTMASK") return masked_lanes([](uint32_t lane) { return (1U << lane) - 1; });
  if (name == "SR_LEMASK") return masked_lanes([](uint32_t lane) { return ((1U << lane) - 1) | 1U << lane; });
  if (name == "SR_GTMASK") return masked_lanes([](uint32_t lane) { return ~(((1U << lane) - 1) | 1U << lane); });
  if (name == "SR_GEMASK") return masked_lanes([](uint32_t lane) { return ~((1U << lane) - 1); });
  return Word::nothing(op.index);
}

void s2r(Warp& warp, const Op& op, uint32_t mask) {
  const std::string_view name = op.sources.empty() ? std::string_view() : op.sources.front().text;
  warp.write(op.destinations.at(0), special(warp, op, name), mask);
  if (op.base == "CS2R" && !op.has("32"))
    warp.write(op.destinations.at(0), name == "SRZ" ? Word::of(0) : Word::nothing(op.index), mask, 1);
}

void ldc(Warp& warp, const Op& op, uint32_t mask) {
  // Reads all words before the first write, because the result may overwrite the index: LDC.64 R2, c[0x0][R2+0x160].
  std::vector<Word> words;
  for (uint32_t i = 0; i < access_words(op); ++i) words.push_back(warp.constant(op.sources.at(0), op, i, Narrow::of_modifiers(op)));
  for (uint32_t i = 0; i < words.size(); ++i) warp.write(op.destinations.at(0), words[i], mask, i);
}

// QSPC.E.S P0, RZ, [R2]: true if a generic address is in shared (.S), local (.L) or global (.G) memory. Arrays are
// global.
void qspc(Warp& warp, const Op& op, uint32_t mask) {
  Bits result = Bits::nothing(op.index);
  for (const Source& source : op.sources) {
    if (source.kind != Source::Kind::kMemory) continue;
    const Warp::Address address = warp.address(source);
    if (address.low.array_of(mask) >= 0 || address.high.array_of(mask) >= 0) result = Bits::of(op.has("G"));
  }
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, result, mask);
    } else {
      warp.write(destination, Word::nothing(op.index), mask);
    }
  }
}

// R2UR returns the value of the first active lane.
void r2ur(Warp& warp, const Op& op, uint32_t mask) {
  Word value = warp.read(word_source(op, 0), op);
  const auto lane = static_cast<size_t>(mask == 0 ? 0 : std::countr_zero(mask));
  const bool unknown = (value.unknown >> lane & 1) != 0;
  value.lane.fill(value.lane[lane]);
  value.unknown = unknown ? kAllLanes : 0;
  value.pointing = (value.pointing >> lane & 1) != 0 ? kAllLanes : 0;
  for (uint32_t& set : value.varying) set = (set >> lane & 1) != 0 ? kAllLanes : 0;
  for (const Source& destination : op.destinations) {
    if (!is_predicate(destination)) warp.write(destination, value, mask);
  }
}

uint32_t shuffled_from(const Op& op, uint32_t lane, uint32_t b, uint32_t c, bool& inside) {
  const uint32_t segment = c >> 8 & 31;
  const uint32_t clamp = c & 31;
  const uint32_t most = (lane & segment) | (clamp & ~segment);
  const uint32_t least = lane & segment;
  const auto amount = static_cast<int>(b & 31);
  const auto here = static_cast<int>(lane);
  int from = 0;
  if (op.has("UP")) {
    from = here - amount;
    inside = from >= static_cast<int>(most);
  } else if (op.has("DOWN")) {
    from = here + amount;
    inside = from <= static_cast<int>(most);
  } else if (op.has("BFLY")) {
    from = here ^ amount;
    inside = from <= static_cast<int>(most);
  } else {
    from = static_cast<int>(least | (b & 31 & ~segment));
    inside = from <= static_cast<int>(most);
  }
  return inside ? static_cast<uint32_t>(from) & 31 : lane;
}

// SHFL.BFLY PT, R3, R0, 0x10, 0x1f. Source: PTX ISA, shfl.sync.
void shfl(Warp& warp, const Op& op, uint32_t mask) {
  const Word a = warp.read(word_source(op, 0), op);
  const Word b = warp.read(word_source(op, 1), op);
  const Word c = warp.read(word_source(op, 2), op);
  Word result = a;
  Bits valid = tainted_bits({&b, &c});
  const LaneSets from_elsewhere = united(b.moving(), c.moving());
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    bool inside = false;
    const uint32_t from = shuffled_from(op, lane, b.lane[lane], c.lane[lane], inside);
    if (inside) valid.lanes |= 1U << lane;
    result.lane[lane] = a.lane[from];
    const bool unknown = ((a.unknown >> from | b.unknown >> lane | c.unknown >> lane) & 1) != 0;
    const auto take = [lane](uint32_t& set, bool in) { set = (set & ~(1U << lane)) | (in ? 1U << lane : 0); };
    take(result.unknown, unknown);
    take(result.pointing, (a.pointing >> from & 1) != 0);
    for (size_t v = 0; v < result.varying.size(); ++v)
      take(result.varying[v], ((a.varying[v] >> from | from_elsewhere[v] >> lane) & 1) != 0);
  }
  if (a.unknown == 0 && b.unknown != 0) result.origin = b.origin;
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, valid, mask);
    } else {
      warp.write(destination, result, mask);
    }
  }
}

// VOTE.ANY R5, PT, P0: the ballot, and whether any (all) of the active lanes agree.
void vote(Warp& warp, const Op& op, uint32_t mask) {
  Bits in = Bits::of(true);
  for (const Source& source : op.sources) {
    if (is_predicate(source)) in = warp.read_bits(source);
  }
  const uint32_t set = in.lanes & mask;
  const bool agreed = op.has("ALL") ? set == mask : op.has("EQ") ? set == mask || set == 0 : set != 0;
  const bool unknown = (in.unknown & mask) != 0;
  Word ballot = unknown ? Word::nothing(in.origin) : Word::of(set);
  const uint8_t varies = variables_of(in.varying, mask);
  for (size_t v = 0; v < ballot.varying.size(); ++v) ballot.varying[v] = (varies >> v & 1) != 0 ? kAllLanes : 0;
  ballot.limit = in.limit;
  Bits result = unknown ? Bits::nothing(in.origin) : Bits::of(agreed);
  result.varying = ballot.varying;
  result.limit = in.limit;
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, result, mask);
    } else {
      warp.write(destination, ballot, mask);
    }
  }
}

// ELECT selects the lowest active lane.
void elect(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t lowest = mask & (0 - mask);
  for (const Source& destination : op.destinations) {
    if (is_predicate(destination)) {
      warp.write(destination, Bits{.lanes = lowest}, mask);
    } else {
      warp.write(destination, Word::of(mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(mask))), mask);
    }
  }
}

// Spills to an address that all lanes share. Any other address may overwrite any spill.
void stl(Warp& warp, const Op& op, uint32_t mask) {
  const Word at = warp.address(op.sources.at(0)).low;
  if (at.unknown != 0 || at.depends() != 0 || std::popcount(mask) == 0) {
    warp.state.local.clear();
    return;
  }
  for (uint32_t i = 0; i < access_words(op); ++i) {
    Word& place = warp.state.local.try_emplace(at.lane[0] + 4 * i, Word::nothing(op.index)).first->second;
    const bool whole = !op.has("U8") && !op.has("U16");
    merge(place, whole ? warp.read_next(op.sources.at(1), op, i) : Word::nothing(op.index), mask);
  }
}

void ldl(Warp& warp, const Op& op, uint32_t mask) {
  const Word at = warp.address(op.sources.at(0)).low;
  for (uint32_t i = 0; i < access_words(op); ++i) {
    const auto found = warp.state.local.find(at.lane[0] + 4 * i);
    const bool known = at.unknown == 0 && at.depends() == 0 && found != warp.state.local.end();
    warp.write(op.destinations.at(0), known ? found->second : Word::nothing(op.index), mask, i);
  }
}

}  // namespace

std::span<const Executor> move_executors() {
  static constexpr std::array kTable{
      Executor{"MOV", mov},      Executor{"MOV32I", mov}, Executor{"SEL", sel},   Executor{"S2R", s2r},    Executor{"S2UR", s2r},
      Executor{"CS2R", s2r},     Executor{"LDC", ldc},    Executor{"R2UR", r2ur}, Executor{"SHFL", shfl},  Executor{"VOTE", vote},
      Executor{"ELECT", elect},  Executor{"STL", stl},    Executor{"LDL", ldl},   Executor{"VOTEU", vote}, Executor{"LDCU", ldc},
      Executor{"MOV64IUR", mov}, Executor{"QSPC", qspc},
  };
  return kTable;
}

}  // namespace warpfold::sass
