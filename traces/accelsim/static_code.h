#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/architecture.h"
#include "isa/instruction.h"
#include "traces/accelsim/trace_line.h"
#include "traces/access/opcode_access.h"

namespace warpfold::traces::accelsim {

// An instruction of the kernel's code, however often it is executed. If some warps or passes execute it without an
// active lane and that changes its cost, it exists twice: predicated off it moves no data and synchronises with
// nothing.
struct StaticInstruction {
  isa::Instruction instruction;  // without control code; memory effects are added when all addresses are known
  uint64_t pc = 0;
  uint32_t place = 0;  // number of the PC among all PCs, without gaps
  bool off = false;    // predicated off
  access::Access access = access::Access::kNone;
  uint32_t bytes = 0;     // bytes per lane
  uint32_t matrices = 0;  // LDSM, STSM
};

// Finds the static instruction that a line executes, or creates it from the line.
//
// A line names registers and little else, written registers first. Up to version 5, predicates and uniform registers
// are missing, so a comparison writes PT and a uniform instruction URZ. If the first operand of an instruction is a
// predicate that it writes (SHFL, LOP3 with a predicate, ATOMG), the line lists the register that it writes among the
// sources. It is moved to the destinations.
class StaticCode {
 public:
  explicit StaticCode(const isa::Architecture& architecture) : architecture_(architecture) {}

  // Returns the instruction's number. The error message describes the fault of the line.
  Expected<uint32_t> find(const TraceLine& line);
  const StaticInstruction& at(uint32_t number) const { return code_[number]; }
  size_t size() const { return code_.size(); }
  size_t counter_waits() const { return counter_waits_; }  // DEPBAR that wait for no group of copies
  size_t places() const { return places_.size(); }
  const isa::Architecture& architecture() const { return architecture_; }

 private:
  struct Key {
    uint64_t pc;
    int64_t immediate;
    std::string_view text;
    bool off;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.text) ^
             (key.pc * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(key.immediate) * 31 + key.off);
    }
  };

  Expected<uint32_t> add(const TraceLine& line, const Key& key);
  Expected<StaticInstruction> make(const TraceLine& line) const;

  const isa::Architecture& architecture_;
  std::deque<StaticInstruction> code_;
  std::deque<std::string> texts_;  // storage for the texts in keys
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::unordered_map<uint64_t, uint32_t> places_;
  bool commits_groups_ = false;  // an LDGDEPBAR has been read
  size_t counter_waits_ = 0;
};

}  // namespace warpfold::traces::accelsim
