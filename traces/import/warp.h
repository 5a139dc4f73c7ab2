#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/import/launch_facts.h"
#include "traces/import/op.h"
#include "traces/import/questions.h"
#include "traces/import/word.h"

namespace warpfold::sass {

// A value that decides the path, or an address, is not known.
struct UnknownValue {
  int op;      // the instruction that needs it
  int origin;  // the instruction that it hangs on; -1: a register that nothing has written
};

// A decision depends on these variables other than linearly: the path is that of the executed CTA, or pass, alone.
struct NotLinear {
  uint8_t variables;
};

// Origin of the inverse of the cluster's extent in dimension d: kInverse - d. Only a division of the CTA's index uses it.
inline constexpr int kInverse = -2;

// Origins of values that were lost when passes of loop l were skipped: kLost - l.
inline constexpr int kLost = -1000;

// What the importer cannot express, at an instruction.
struct NotFollowed {
  int op;
  std::string message;
};

// An instruction that the architecture does not have was reached.
struct Unreadable {
  int op;
};

// What a warp's instructions have left behind.
struct WarpState {
  std::vector<Word> registers;  // R0.. as far as the function names them
  std::vector<Word> uniform;    // UR0.., the same
  std::array<Bits, 7> predicates;
  std::array<Bits, 7> uniform_predicates;
  std::map<uint32_t, Word> local;      // local memory by address
  std::map<int, uint32_t> executions;  // of answered instructions, modulo `of`
  uint32_t cluster_phase = 0;          // waits at the cluster's barrier, modulo 2
  bool operator==(const WarpState&) const = default;
};

// The part of a word that an instruction reads: LDC.U8, LDC.S16.
struct Narrow {
  uint32_t bytes = 4;
  bool is_signed = false;

  static Narrow of_modifiers(const Op& op);
  uint32_t of(uint32_t word) const;
};

// A warp that is executed: its state, the launch around it, and how far the variables may go for what was decided so far.
class Warp {
 public:
  Warp(const LaunchFacts& launch, std::array<uint32_t, 3> cta, uint32_t index, int registers, int uniform_registers);

  // Operands. A word is read as it is, with its sign or inversion applied as the integer instructions have it.
  Word read(const Source& source, const Op& op) const;
  Word read_next(const Source& source, const Op& op, uint32_t further) const;  // of a tuple: R5 of R4
  Bits read_bits(const Source& source) const;
  void write(const Source& destination, const Word& value, uint32_t mask, uint32_t further = 0);
  void write(const Source& destination, const Bits& value, uint32_t mask);
  Word constant_offset(const Source& source, uint32_t further) const;
  Word constant(const Source& source, const Op& op, uint32_t further, Narrow narrow = {}) const;

  // The two halves of the address that a memory operand names; `high` is zero where the address has 32 bits.
  struct Address {
    Word low;
    Word high;
  };
  Address address(const Source& source) const;

  // The lanes of `mask` in which the predicate is true. What was decided bounds the variables from here on.
  uint32_t decide(const Bits& bits, uint32_t mask, const Op& op);
  // `guard` of the instruction; the same, with the launch's answer where there is one.
  uint32_t guarded(const Op& op, uint32_t mask);
  Bits guard_bits(const Op& op) const;

  Word thread_index(int dimension) const;
  Word lane_index() const;
  uint32_t rank() const;                    // of the CTA in its cluster
  Word cta_index(int dimension) const;      // moves with the variable of that dimension, a cluster's CTAs at a time
  Word cluster_index(int dimension) const;  // which is that variable

  const LaunchFacts& launch;
  const std::array<uint32_t, 3> cta;
  const uint32_t index;  // in the CTA
  Extents extents = kNoLimit;
  uint8_t sampled = 0;         // variables in which this CTA represents others, whatever they decide (cta_sample.h)
  uint32_t alive = kAllLanes;  // lanes that have not ended
  // Survey: what is not known is a question, and the warp goes on both ways. nullptr: what is not known is thrown.
  std::vector<Question>* survey = nullptr;
  // Adds a question to the survey. False: there is none, or the value is known where passes are not skipped.
  bool asks(const Question& question) const;
  mutable std::map<int, std::string> assumed;  // by line: what was taken to be so
  WarpState state;

 private:
  const Word& word(const Source& source, uint32_t further) const;
  uint32_t without_slow_path(const Bits& bits, uint32_t mask, const Op& op) const;
  uint32_t both_ways(const Bits& bits, uint32_t mask, const Op& op);
};

}  // namespace warpfold::sass
