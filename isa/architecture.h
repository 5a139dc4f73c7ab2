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

// Values for accesses of 32, 64 and 128 bits.
using ByWidth = std::array<uint16_t, 3>;

// One row of an opcode table.
struct OpcodeInfo {
  std::string name;
  Pipe pipe = Pipe::kNone;
  uint8_t issue_interval = 1;  // cycles that the pipe's input latch is occupied
  Behaviour behaviour = Behaviour::kFixedLatency;
  uint8_t latency_class = 0;  // index into Architecture::latency_classes
  std::vector<uint8_t> destination_registers;
  std::vector<uint8_t> source_registers;
  uint8_t destinations = 1;
  ByWidth result_cycles{};  // variable latency without contention, from issue
  ByWidth source_release_cycles{};
  ByWidth result_cycles_uniform{};
  ByWidth source_release_cycles_uniform{};
  std::string compiler_port;
  uint8_t compiler_interval = 1;
  bool also_blocks_fma_lite = false;
  uint8_t minimum_stall = 1;
  uint8_t predicate_destinations = 0;  // most predicates that may follow the first written register as further results
  std::vector<uint8_t> source_slots;   // register-file cache slot of each source; empty: 0, 1, 2
  uint8_t before_target = 0;           // least cycles between a result and the branch target after it; 0: the architecture's value
  uint8_t low_word_earlier = 0;        // cycles by which the low word of a register pair is ready before the high word

  bool fixed_latency() const { return behaviour == Behaviour::kFixedLatency; }
  bool memory() const { return pipe == Pipe::kMemory; }
};

// Instruction set as the machine and the control code assigner use it. Immutable after loading.
class Architecture {
 public:
  // Returns an architecture from the tables compiled into the program, such as "sm_90". Fails for an unknown name, with
  // a suggestion.
  static Expected<const Architecture*> find(std::string_view name);
  static std::vector<std::string> known();  // oldest architecture first
  // Parses the text of a table whose base is one of the tables above. `file` names the table in diagnostics.
  static Expected<Architecture> parse(const std::string& file, std::string_view text);

  const std::string& name() const { return name_; }
  std::span<const OpcodeInfo> opcodes() const { return opcodes_; }
  const OpcodeInfo& info(const Instruction& instruction) const { return opcodes_[instruction.opcode]; }
  // Returns the row that has the most modifiers of `mnemonic` and no others. If no row fits, fails with the nearest
  // known opcode. If the opcode's cost depends on a shape or type that no row has, fails with the list of the opcode's
  // rows.
  Expected<uint16_t> resolve(std::string_view mnemonic) const;

  std::span<const std::string> latency_classes() const { return latency_class_names_; }
  // Cycles from issue of `producer` to the earliest issue of `consumer`, for a register result.
  int register_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const;
  // As above for a predicate result: read as an operand, and read as a guard (@P).
  int predicate_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const;
  int guard_latency(const OpcodeInfo& producer) const;
  // Cycles from issue until the result is written to the register file (latency to the producer's own class).
  int write_latency(const OpcodeInfo& producer) const;
  // Upper bound of the cycles between two issues that any fixed-latency dependence needs.
  int longest_latency() const { return longest_latency_; }
  // Cycles that the compiler keeps between a fixed-latency result (register, predicate) and the branch target at the
  // end of its loop body, regardless of the reader.
  int register_before_target() const { return register_before_target_; }
  int predicate_before_target() const { return predicate_before_target_; }

 private:
  // Rows of one opcode, such as "HMMA" and "HMMA.16816.F32", rows with more modifiers first.
  struct Family {
    struct Member {
      std::vector<std::string> modifiers;
      uint16_t row;
    };
    std::vector<Member> members;
    bool keyed = false;                    // cost depends on modifiers: a mnemonic with a modifier in neither a row nor
                                           // `indifferent` is unknown
    std::vector<std::string> indifferent;  // modifiers that do not change the cost
  };
  void add_to_family(uint16_t row);
  std::unexpected<Diagnostic> unknown(std::string_view mnemonic) const;

  std::string name_;
  std::vector<OpcodeInfo> opcodes_;
  std::map<std::string, Family, std::less<>> families_;  // keyed by opcode without modifiers
  std::vector<std::string> latency_class_names_;
  std::vector<std::vector<uint8_t>> register_latency_;   // [producer class][consumer class]
  std::vector<std::vector<uint8_t>> predicate_latency_;  // [producer class][consumer class]
  std::vector<uint8_t> guard_latency_;                   // [producer class]
  int longest_latency_ = 1;                              // maximum of the tables above, at least 1
  int register_before_target_ = 1;
  int predicate_before_target_ = 1;
};

// Returns 0, 1 or 2 for 32-, 64- or 128-bit accesses, by the mnemonic's modifiers. .U8 and other narrow accesses count
// as 32 bits.
int access_width_index(std::string_view mnemonic);

// True for atomic operations on global memory that L2 executes, with or without a returned value (ATOM, ATOMG, RED,
// REDG). False for bulk reductions (UTMAREDG).
bool adds_in_l2(std::string_view mnemonic);
// True if the operation above adds floating-point numbers.
bool adds_floats(std::string_view mnemonic);

}  // namespace warpfold::isa
