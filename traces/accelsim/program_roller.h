#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/accelsim/program_arena.h"

namespace warpfold::traces::accelsim {

// Rolls the instructions that one warp executed into loops, as they come. The result expands to exactly the sequence that was
// given.
//
// Loops are found where the PC goes backward: the instruction that it goes to heads a loop if it was executed before in the loop
// around it. Passes that are equal, and rows of up to 16 passes that repeat as a whole, become one loop; others stay as they are.
// What follows a loop is at first part of its last pass, and parted from it when the loop around it goes on or the warp ends:
//
//   PCs  10 20 30 20 30 20 30 40 10 20 30 20 30 40 50     10, 3 x {20 30}, 40, 10, 2 x {20 30}, 40, 50
class ProgramRoller {
 public:
  // Places are numbers of PCs (StaticInstruction::place), PCs rise with addresses.
  explicit ProgramRoller(ProgramArena& arena);

  void add(uint32_t instruction, uint32_t place, uint64_t pc);
  uint64_t instructions() const { return instructions_; }
  // The list that the warp ran; the roller begins anew.
  uint32_t finish();

 private:
  struct Run {
    uint32_t list;
    uint64_t count;
    bool operator==(const Run&) const = default;
  };
  // A loop that the warp is in, or has left without the roller knowing it. The outermost frame is the whole program, of one pass.
  struct Frame {
    uint32_t head = 0;          // place of its first instruction
    std::vector<Run> passes{};  // complete ones
    SymbolList pass{};          // the present one
    uint64_t serial = 0;        // of the present pass
  };
  // Where an instruction of this place was last seen: in which pass, at which position.
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
