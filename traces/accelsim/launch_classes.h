#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/program_arena.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Converts the programs of all warps of all CTAs to a launch: roles of warps, CTA classes, and trip counts as literals
// or parameters.
//
// Programs that differ only in trip counts become one program with parameters. Warps at the same place of different
// CTAs may run programs of different shape. Their role then contains all of these programs, each in a loop of one trip
// that the other classes skip, and the EXIT after them.
class LaunchClasses {
 public:
  explicit LaunchClasses(const ProgramArena& arena) : arena_(arena) {}

  // Adds the program of warp `warp` of CTA number `cta`, without its last EXIT.
  void add(uint64_t cta, uint32_t warp, uint32_t program);
  uint64_t ctas() const { return ctas_.size(); }
  // True if some CTAs have a warp that others lack. `cta` and `warp` are the first CTA and warp that are missing. A
  // launch has a warp in every CTA or in none.
  bool uneven(uint64_t& cta, uint32_t& warp) const;

  // Creates the instruction of a number, and the last EXIT.
  struct Maker {
    virtual ~Maker() = default;
    virtual isa::Instruction instruction(uint32_t number) const = 0;
    virtual isa::Instruction last_exit() const = 0;
  };
  // Adds roles, parameters, classes and grid to the kernel. Fails if loops nest deeper than the machine supports.
  Expected<void> build(const Maker& maker, Kernel& kernel) const;

 private:
  const ProgramArena& arena_;
  std::map<uint64_t, std::vector<uint32_t>> ctas_;  // keyed by CTA: program + 1 of each warp; 0: none
};

}  // namespace warpfold::traces::accelsim
