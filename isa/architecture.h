#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/behaviour.h"
#include "isa/instruction.h"
#include "isa/pipe.h"

namespace warpfold::isa {

// Values by access width: 32, 64, 128 bits.
using ByWidth = std::array<uint16_t, 3>;

// One row of an opcode table.
struct OpcodeInfo {
  std::string name;
  Pipe pipe = Pipe::kNone;
  uint8_t issue_interval = 1;  // cycles the pipe's input latch is held
  Behaviour behaviour = Behaviour::kFixedLatency;
  uint8_t latency_class = 0;  // index into Architecture::latency_classes
  std::vector<uint8_t> destination_registers;
  std::vector<uint8_t> source_registers;
  uint8_t destinations = 1;
  ByWidth result_cycles{};  // variable latency, uncontended, from issue
  ByWidth source_release_cycles{};
  ByWidth result_cycles_uniform{};
  ByWidth source_release_cycles_uniform{};
  std::string compiler_port;
  uint8_t compiler_interval = 1;
  bool also_blocks_fma_lite = false;
  uint8_t extra_source_cycles = 0;
  uint8_t minimum_stall = 1;
  uint8_t predicate_destinations = 0;  // predicates that may follow the first written register as results
  std::vector<uint8_t> source_slots;   // register-file cache slot of each source; 0, 1, 2 where empty
  uint8_t before_target = 0;           // least cycles between a result and the branch target behind it; 0: as the architecture
  uint8_t low_word_earlier = 0;        // the low word of a register pair is ready this much before the high one

  bool fixed_latency() const { return behaviour == Behaviour::kFixedLatency; }
  bool memory() const { return pipe == Pipe::kMemory; }
};

// An instruction set as the machine and the compiler pass see it. Immutable once loaded.
class Architecture {
 public:
  // Tables compiled into the program: "sm_90". Unknown names fail with the known ones listed.
  static Expected<const Architecture*> find(std::string_view name);
  static std::vector<std::string> known();  // the oldest first
  // From the text of a table, whose base is one of those above; `file` names it in diagnostics.
  static Expected<Architecture> parse(const std::string& file, std::string_view text);

  const std::string& name() const { return name_; }
  std::span<const OpcodeInfo> opcodes() const { return opcodes_; }
  const OpcodeInfo& info(const Instruction& instruction) const { return opcodes_[instruction.opcode]; }
  // The row that has the most of the modifiers of `mnemonic`, and no other. Fails with the nearest known name, or, where the
  // opcode's cost hangs on a shape or type that no row has, with those that rows have.
  Expected<uint16_t> resolve(std::string_view mnemonic) const;

  std::span<const std::string> latency_classes() const { return latency_class_names_; }
  // Cycles from issue of `producer` to the earliest issue of `consumer` for a register result.
  int register_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const;
  // The same for a predicate result read as an operand, and as a guard (@P).
  int predicate_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const;
  int guard_latency(const OpcodeInfo& producer) const;
  // Cycles from issue until the result is written to the register file (latency to the producer's own class).
  int write_latency(const OpcodeInfo& producer) const;
  // No fixed-latency dependence needs more cycles between two issues.
  int longest_latency() const { return longest_latency_; }
  // Cycles that the compiler keeps between a fixed-latency result (of a register, of a predicate) and the target of the
  // branch that ends its loop body, whoever reads it there.
  int register_before_target() const { return register_before_target_; }
  int predicate_before_target() const { return predicate_before_target_; }

 private:
  // Rows of "HMMA" and "HMMA.16816.F32", those with the most modifiers first.
  struct Family {
    struct Member {
      std::vector<std::string> modifiers;
      uint16_t row;
    };
    std::vector<Member> members;
    bool keyed = false;                    // cost hangs on modifiers: what neither a row nor `indifferent` names is unknown
    std::vector<std::string> indifferent;  // modifiers without cost
  };
  void add_to_family(uint16_t row);
  std::unexpected<Diagnostic> unknown(std::string_view mnemonic) const;

  std::string name_;
  std::vector<OpcodeInfo> opcodes_;
  std::map<std::string, Family, std::less<>> families_;  // by opcode without modifiers
  std::vector<std::string> latency_class_names_;
  std::vector<std::vector<uint8_t>> register_latency_;   // [producer class][consumer class]
  std::vector<std::vector<uint8_t>> predicate_latency_;  // [producer class][consumer class]
  std::vector<uint8_t> guard_latency_;                   // [producer class]
  int longest_latency_ = 1;                              // of the tables above: a value is there a cycle later at the earliest
  int register_before_target_ = 1;
  int predicate_before_target_ = 1;
};

// 0 / 1 / 2 for 32- / 64- / 128-bit accesses, from the mnemonic's modifiers (.64, .128, .U8 and narrower count as 32).
int access_width_index(std::string_view mnemonic);

// An atomic operation on global memory, with the old value or without (ATOM, ATOMG, RED, REDG), which L2 executes; bulk reductions
// (UTMAREDG) are none.
bool adds_in_l2(std::string_view mnemonic);
// Such an operation, of floating-point numbers.
bool adds_floats(std::string_view mnemonic);

}  // namespace warpfold::isa
