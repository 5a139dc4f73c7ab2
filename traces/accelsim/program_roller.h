#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/accelsim/program_arena.h"

namespace warpfold::traces::accelsim {

// Rolls the instructions that one warp executes into loops, as they arrive. The result expands to exactly the given
// sequence.
//
// A backward step of the PC marks a loop: its target is the head of a loop if it was executed before within the
// surrounding loop. Equal passes, and rows of up to 16 passes that repeat as a whole, become one loop; other passes
// stay unrolled. Code after a loop at first belongs to the loop's last pass. It is split off when the surrounding loop
// continues or the warp ends:
//
//   PCs  10 20 30 20 30 20 30 40 10 20 30 20 30 40 50     10, 3 x {20 30}, 40, 10, 2 x {20 30}, 40, 50
class ProgramRoller {
 public:
  // Places number the PCs (StaticInstruction::place). PCs rise with addresses.
  explicit ProgramRoller(ProgramArena& arena);

  void add(uint32_t instruction, uint32_t place, uint64_t pc);
  uint64_t instructions() const { return instructions_; }
  // Returns the list that the warp ran, and resets the roller.
  uint32_t finish();

 private:
  struct Run {
    uint32_t list;
    uint64_t count;
    bool operator==(const Run&) const = default;
  };
  // A loop in which the warp is, or which it has left without a sign in the trace. The outermost frame is the whole
  // program, with one pass.
  struct Frame {
    uint32_t head = 0;          // place of its first instruction
    std::vector<Run> passes{};  // complete passes
    SymbolList pass{};          // current pass
    uint64_t serial = 0;        // number of the current pass
  };
  // Pass and position in which an instruction of this place was last seen.
  struct Seen {
    uint64_t serial = 0;
    uint32_t at = 0;
  };

  bool is_at(const Frame& frame, size_t at, uint32_t place) const;
  void go_back_to(uint32_t place);
  void close_frame();
  static void add_pass(Frame& frame, uint32_t list);
  void end_pass(Frame& frame);
  void append(Frame& frame, Symbol symbol);
  SymbolList rolled(const std::vector<Run>& runs);

  ProgramArena& arena_;
  std::vector<Frame> frames_;
  std::vector<Seen> seen_;          // by place
  std::vector<uint32_t> place_of_;  // by instruction
  uint64_t serials_ = 0;
  uint64_t instructions_ = 0;
  uint64_t last_pc_ = 0;
};

}  // namespace warpfold::traces::accelsim
