#include "traces/accelsim/static_code.h"

#include <algorithm>

#include "configs/escape/quoted.h"
#include "isa/assembler.h"

namespace warpfold::traces::accelsim {
namespace {

using access::Access;
using isa::Behaviour;

constexpr const char* kAnyCount = "0x3f";  // no dependence counter exceeds it, so DEPBAR never waits

// True for opcodes that take only an issue slot if no lane is active. Other opcodes cost the same with and without
// active lanes.
bool off_matters(const isa::OpcodeInfo& info) {
  switch (info.behaviour) {
    case Behaviour::kExit:
    case Behaviour::kBarrierSync:
    case Behaviour::kBarrierArrive:
    case Behaviour::kCopyAsyncWait:
    case Behaviour::kSetMaxRegisters:
    case Behaviour::kWgmma:
      return true;
    default:
      return info.memory();
  }
}

// Returns the name in assembly: RZ for "R255", PT for "P7".
std::string register_text(std::string_view name) {
  if (name == "R255") return "RZ";
  if (name == "UR63" || name == "UR255") return "URZ";
  if (name == "P7") return "PT";
  if (name == "UP7") return "UPT";
  return std::string(name);
}

bool predicate(std::string_view name) { return name.starts_with('P') || name.starts_with("UP"); }
bool general(std::string_view name) { return name.starts_with('R'); }

// Appends an address in brackets. Uniform registers before the first general register are its descriptor.
size_t append_address(const RegisterList& sources, size_t from, bool global, std::vector<std::string>& operands) {
  std::string uniform;
  size_t at = from;
  while (at < sources.count && sources.names[at].starts_with("UR")) uniform = register_text(sources.names[at++]);
  const bool base = at < sources.count && general(sources.names[at]);
  const std::string name = base ? register_text(sources.names[at++]) : "RZ";
  const std::string inside = "[" + name + (global && name != "RZ" ? ".64]" : "]");
  if (uniform.empty()) {
    operands.push_back(inside);
  } else if (global) {
    operands.push_back("desc[" + uniform + "]" + inside);
  } else {
    operands.push_back("[" + name + "+" + uniform + "]");
  }
  return at;
}

bool writes_predicates(const isa::OpcodeInfo& info) { return info.destinations >= 2; }

}  // namespace

Expected<uint32_t> StaticCode::find(const TraceLine& line) {
  const Key key{line.pc, line.has_addresses ? 0 : line.immediate, line.text, line.mask == 0};
  const auto known = known_.find(key);
  return known != known_.end() ? Expected<uint32_t>(known->second) : add(line, key);
}

Expected<uint32_t> StaticCode::add(const TraceLine& line, const Key& key) {
  auto made = make(line);
  if (!made) return std::unexpected(made.error());
  Key own = key;
  own.text = texts_.emplace_back(key.text);
  const bool matters = off_matters(architecture_.info(made->instruction));
  if (!matters) {
    own.off = !key.off;
    if (const auto other = known_.find(own); other != known_.end()) {
      own.off = key.off;
      known_.emplace(own, other->second);
      return other->second;
    }
    own.off = key.off;
  }
  made->off = key.off && matters;
  if (made->off) made->instruction.guard = {.present = true, .negated = true};
  const isa::Behaviour behaviour = architecture_.info(made->instruction).behaviour;
  commits_groups_ = commits_groups_ || behaviour == Behaviour::kCopyAsyncCommit;
  if (behaviour == Behaviour::kDependenceWait) ++counter_waits_;
  made->place = places_.try_emplace(line.pc, static_cast<uint32_t>(places_.size())).first->second;
  const auto number = static_cast<uint32_t>(code_.size());
  code_.push_back(*std::move(made));
  known_.emplace(own, number);
  return number;
}

Expected<StaticInstruction> StaticCode::make(const TraceLine& line) const {
  std::string mnemonic(line.opcode);
  // The machine counts groups of LDGSTS separately. Compiled code waits for them with the dependence counter that
  // LDGDEPBAR holds. If no group was committed, DEPBAR waits for another counter.
  const bool depbar = mnemonic == "DEPBAR.LE" || mnemonic == "DEPBAR";
  if (depbar && commits_groups_) mnemonic = "DEPBAR.LE.LDGSTS";
  const auto opcode = architecture_.resolve(mnemonic);
  if (!opcode)
    return fail(opcode.error().message + "; the instruction set is " + architecture_.name() +
                ", another one is named by --architecture");
  const isa::OpcodeInfo& info = architecture_.opcodes()[*opcode];

  std::vector<std::string> operands;
  for (size_t i = 0; i < line.destinations.count; ++i) operands.push_back(register_text(line.destinations.names[i]));
  size_t source = 0;
  if (operands.empty() && info.destinations > 0) {
    const bool uniform = mnemonic.starts_with('U') || mnemonic.starts_with("R2UR") || mnemonic.starts_with("S2UR");
    if (uniform) {
      operands.emplace_back("URZ");
    } else if (writes_predicates(info) || mnemonic.starts_with("R2P") || mnemonic.starts_with("VOTE")) {
      for (int i = 0; i < info.destinations; ++i) operands.emplace_back("PT");
    } else {
      operands.emplace_back("PT");
      if (line.sources.count > 0 && general(line.sources.names[0])) operands.push_back(register_text(line.sources.names[source++]));
    }
  } else if (operands.size() == 1 && writes_predicates(info) && predicate(operands[0])) {
    operands.emplace_back("PT");
  }
  const Access access = access::access_of(info.behaviour, mnemonic);
  const bool shared = access == Access::kShared || access == Access::kMatrix;
  if (access != Access::kNone) {
    if (info.behaviour == Behaviour::kCopyAsync && line.sources.count - source >= 2) {
      source = append_address(line.sources, source, false, operands);
    }
    source = append_address(line.sources, source, !shared && access != Access::kLocal, operands);
  }
  const bool control = info.pipe == isa::Pipe::kNone;
  const bool has_immediate = !line.has_addresses && !control && line.immediate != 0 && mnemonic != "S2R";
  const size_t first_source = operands.size();
  std::string guard;
  for (; source < line.sources.count; ++source) {
    const std::string name = register_text(line.sources.names[source]);
    if (info.behaviour == Behaviour::kBranch && predicate(name)) {
      guard = "@" + name + " ";
    } else {
      operands.push_back(name);
    }
  }
  // Encodings have the immediate as the second source, except for a few opcodes that add a source.
  if (has_immediate) {
    const auto place = static_cast<std::ptrdiff_t>(std::min(first_source + 1, operands.size()));
    operands.insert(operands.begin() + place, std::to_string(line.immediate));
  }

  if (depbar && !commits_groups_) operands = {"SB0", kAnyCount};
  std::string text = guard + mnemonic;
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
  auto parsed = isa::parse_instruction(architecture_, text + " ;", "", 0);
  if (!parsed) return fail(parsed.error().message + " in " + escape::quoted(text));
  StaticInstruction made{.instruction = *std::move(parsed), .pc = line.pc, .access = access};
  made.bytes = access::access_bytes(mnemonic);
  made.matrices = access == Access::kMatrix ? access::matrices_of(mnemonic) : 0;
  isa::Effect& effect = made.instruction.effect;
  switch (info.behaviour) {
    case Behaviour::kBarrierSync:
    case Behaviour::kBarrierArrive:
      effect.barrier = static_cast<int16_t>(std::clamp<int64_t>(line.immediate, 0, 15));
      break;
    case Behaviour::kCopyAsyncWait:
      effect.count = static_cast<uint16_t>(std::clamp<int64_t>(line.immediate, 0, 63));
      break;
    case Behaviour::kCopyAsyncCommit:
      effect.commit = true;
      break;
    case Behaviour::kMbarrierWait:
    case Behaviour::kMbarrierArrive:
    case Behaviour::kBulkLoad:
    case Behaviour::kBulkStore:
    case Behaviour::kWgmma:
    case Behaviour::kWgmmaArrive:
    case Behaviour::kWgmmaWait:
      return fail(mnemonic +
                  ": traces of kernels with mbarriers, bulk copies or wgmma are not imported: a trace does not say which "
                  "stages of a ring its barriers are. Import the kernel from its listing instead");
    default:
      break;
  }
  return made;
}

}  // namespace warpfold::traces::accelsim
