#include "traces/access/opcode_access.h"

#include <algorithm>

#include "traces/access/shared_wavefronts.h"

namespace warpfold::traces::access {
namespace {

using isa::Behaviour;

bool has(std::string_view opcode, std::string_view part) { return opcode.find(part) != std::string_view::npos; }

}  // namespace

Access access_of(Behaviour behaviour, std::string_view opcode) {
  const bool local = opcode.starts_with("LDL") || opcode.starts_with("STL");
  // L2 executes atomics, strong accesses must see writes of other SMs, and .BYPASS states it (cp.async.cg).
  const bool past_l1 = opcode.starts_with("ATOM") || has(opcode, ".STRONG") || has(opcode, ".BYPASS");
  switch (behaviour) {
    case Behaviour::kLoadGlobal:
      return local ? Access::kLocal : past_l1 ? Access::kGlobalLoadPastL1 : Access::kGlobalLoad;
    case Behaviour::kCopyAsync:
      return past_l1 ? Access::kGlobalLoadPastL1 : Access::kGlobalLoad;
    case Behaviour::kStoreGlobal:
      return local ? Access::kLocal : Access::kGlobalStore;
    case Behaviour::kLoadShared:
    case Behaviour::kStoreShared:
      return opcode.starts_with("STSM") ? Access::kMatrix : Access::kShared;
    case Behaviour::kLoadMatrix:
      return Access::kMatrix;
    default:
      return Access::kNone;
  }
}

bool is_global(Access access) {
  return access == Access::kGlobalLoad || access == Access::kGlobalLoadPastL1 || access == Access::kGlobalStore;
}

Kind kind_of(Access global) {
  return global == Access::kGlobalStore ? Kind::kStore : global == Access::kGlobalLoadPastL1 ? Kind::kLoadPastL1 : Kind::kLoad;
}

uint32_t access_bytes(std::string_view opcode) {
  if (opcode.starts_with("LDSM") || opcode.starts_with("STSM")) return 16;
  uint32_t bytes = 4;
  for (size_t dot = opcode.find('.'); dot != std::string_view::npos; dot = opcode.find('.', dot + 1)) {
    const std::string_view modifier = opcode.substr(dot + 1, opcode.find('.', dot + 1) - dot - 1);
    if (modifier == "U8" || modifier == "S8") bytes = 1;
    if (modifier == "U16" || modifier == "S16") bytes = 2;
    if (modifier == "64") bytes = 8;
    if (modifier == "128") bytes = 16;
    if (modifier == "256") bytes = 32;
  }
  return bytes;
}

uint32_t matrices_of(std::string_view opcode) { return opcode.ends_with(".4") ? 4 : opcode.ends_with(".2") ? 2 : 1; }

uint32_t fewest_wavefronts(Access access, std::string_view opcode) {
  if (access == Access::kMatrix) return matrices_of(opcode);
  const uint32_t bytes = access_bytes(opcode);
  return bytes > 8 ? 4 : bytes > 4 ? 2 : 1;
}

uint32_t global_wavefronts(Access access, std::string_view opcode, const LaneAccess& lanes, const std::vector<LineTouch>& touched) {
  const uint32_t fewest = fewest_wavefronts(access, opcode);
  if (access == Access::kGlobalLoadPastL1) return fewest;
  if (access == Access::kGlobalStore) return std::max(fewest, static_cast<uint32_t>(touched.size()));
  return std::max({fewest, tag_passes(touched), shared_wavefronts(lanes)});
}

}  // namespace warpfold::traces::access
