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

// An instruction of the kernel's code, however often it was executed. One that some warps or passes executed with no lane active is
// there twice where that makes a difference: predicated off it moves nothing and synchronises nothing.
struct StaticInstruction {
  isa::Instruction instruction;  // without control code; effects of memory are added when all addresses are known
  uint64_t pc = 0;
  uint32_t place = 0;  // of the PC among all: a number without gaps
  bool off = false;    // predicated off
  access::Access access = access::Access::kNone;
  uint32_t bytes = 0;     // a lane moves
  uint32_t matrices = 0;  // LDSM, STSM
};

// Finds the instruction that a line executes, and makes it from the line where it is new.
//
// A line names registers and little else. Written registers come first; up to version 5 predicates and uniform registers are left
// out, so that a comparison writes PT here and a uniform instruction URZ, and where an instruction's first operand is a predicate
// that it writes (SHFL, LOP3 with a predicate, ATOMG), the register it writes stands among the sources: it is taken as written.
class StaticCode {
 public:
  explicit StaticCode(const isa::Architecture& architecture) : architecture_(architecture) {}

  // Its number; the message says what is wrong with the line.
  Expected<uint32_t> find(const TraceLine& line);
  const StaticInstruction& at(uint32_t number) const { return code_[number]; }
  size_t size() const { return code_.size(); }
  size_t counter_waits() const { return counter_waits_; }  // DEPBAR of which no group of copies is waited for
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
  std::deque<std::string> texts_;  // that keys point to
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::unordered_map<uint64_t, uint32_t> places_;
  bool commits_groups_ = false;  // LDGDEPBAR has been read
  size_t counter_waits_ = 0;
};

}  // namespace warpfold::traces::accelsim
