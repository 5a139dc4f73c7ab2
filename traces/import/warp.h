#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/import/launch_facts.h"
#include "traces/import/op.h"
#include "traces/import/questions.h"
#include "traces/import/word.h"

namespace warpfold::sass {

// Thrown if a value that decides the path, or an address, is unknown.
struct UnknownValue {
  int op;      // instruction that needs the value
  int origin;  // instruction on which the value depends; -1: a register that no instruction wrote
};

// Thrown if a decision depends on these variables otherwise than linearly. The path then holds only for the executed
// CTA, or pass.
struct NotLinear {
  uint8_t variables;
};

// Origin of the inverse of the cluster's extent in dimension d: kInverse - d. It can only divide a CTA's index.
inline constexpr int kInverse = -2;

// Origin of values that became unknown when passes of loop l were skipped: kLost - l.
inline constexpr int kLost = -1000;

// Thrown at an instruction that the importer cannot express.
struct NotFollowed {
  int op;
  std::string message;
};

// Thrown if an instruction that the architecture lacks is reached.
struct Unreadable {
  int op;
};

// Registers, predicates and memory that a warp's instructions have written.
struct WarpState {
  std::vector<Word> registers;  // R0.. up to the highest that the function names
  std::vector<Word> uniform;    // UR0.., likewise
  std::array<Bits, 7> predicates;
  std::array<Bits, 7> uniform_predicates;
  std::map<uint32_t, Word> local;      // local memory by address
  std::map<int, uint32_t> executions;  // executions of answered instructions, modulo `of`
  uint32_t cluster_phase = 0;          // waits at the cluster's barrier, modulo 2
  bool operator==(const WarpState&) const = default;
};

// Part of a word that an instruction reads: LDC.U8, LDC.S16.
struct Narrow {
  uint32_t bytes = 4;
  bool is_signed = false;

  static Narrow of_modifiers(const Op& op);
  uint32_t of(uint32_t word) const;
};

// A warp during execution: its state, its launch, and the limits of the variables that follow from its decisions so
// far.
class Warp {
 public:
  Warp(const LaunchFacts& launch, std::array<uint32_t, 3> cta, uint32_t index, int registers, int uniform_registers);

  // Reads an operand, with its sign or inversion applied as in integer instructions.
  Word read(const Source& source, const Op& op) const;
  Word read_next(const Source& source, const Op& op, uint32_t further) const;  // word of a tuple: R5 of R4
  Bits read_bits(const Source& source) const;
  void write(const Source& destination, const Word& value, uint32_t mask, uint32_t further = 0);
  void write(const Source& destination, const Bits& value, uint32_t mask);
  Word constant_offset(const Source& source, uint32_t further) const;
  Word constant(const Source& source, const Op& op, uint32_t further, Narrow narrow = {}) const;

  // Low and high half of the address of a memory operand; `high` is zero for a 32-bit address.
  struct Address {
    Word low;
    Word high;
  };
  Address address(const Source& source) const;

  // Returns the lanes of `mask` in which the predicate is true. The decision limits the variables from here on.
  uint32_t decide(const Bits& bits, uint32_t mask, const Op& op);
  // Decides the guard of the instruction, by the launch's answer if there is one.
  uint32_t guarded(const Op& op, uint32_t mask);
  Bits guard_bits(const Op& op) const;

  Word thread_index(int dimension) const;
  Word lane_index() const;
  uint32_t rank() const;                    // rank of the CTA in its cluster
  Word cta_index(int dimension) const;      // moves with the variable of that dimension, by a cluster's CTAs per step
  Word cluster_index(int dimension) const;  // equals that variable

  const LaunchFacts& launch;
  const std::array<uint32_t, 3> cta;
  const uint32_t index;  // index of the warp in the CTA
  Extents extents = kNoLimit;
  uint8_t sampled = 0;         // variables in which this CTA represents others, regardless of their decisions (cta_sample.h)
  uint32_t alive = kAllLanes;  // lanes that have not ended
  // Survey: an unknown value becomes a question, and the warp continues in both directions. nullptr: an unknown value
  // is thrown.
  std::vector<Question>* survey = nullptr;
  // Adds a question to the survey. Returns false without a survey, or if the value would be known without skipping
  // passes.
  bool asks(const Question& question) const;
  mutable std::map<int, std::string> assumed;  // assumptions by line
  WarpState state;

 private:
  const Word& word(const Source& source, uint32_t further) const;
  uint32_t without_slow_path(const Bits& bits, uint32_t mask, const Op& op) const;
  uint32_t both_ways(const Bits& bits, uint32_t mask, const Op& op);
};

}  // namespace warpfold::sass
