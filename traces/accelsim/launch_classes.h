#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/program_arena.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Which programs the warps of all CTAs ran, as a launch has them: roles of warps, CTA classes, trip counts as numbers or
// parameters.
//
// Programs that differ in trip counts alone are one program with parameters. Warps of one place in the CTA that ran programs of
// another shape in other CTAs have all of them in their role, each in a loop of one trip that the other classes skip; the EXIT is
// behind them.
class LaunchClasses {
 public:
  explicit LaunchClasses(const ProgramArena& arena) : arena_(arena) {}

  // What warp `warp` of CTA number `cta` ran, without its last EXIT.
  void add(uint64_t cta, uint32_t warp, uint32_t program);
  uint64_t ctas() const { return ctas_.size(); }
  // Warps that some CTA has and another has not; the first such CTA and warp. A launch has them everywhere or nowhere.
  bool uneven(uint64_t& cta, uint32_t& warp) const;

  // Makes the instruction of a number, and the EXIT.
  struct Maker {
    virtual ~Maker() = default;
    virtual isa::Instruction instruction(uint32_t number) const = 0;
    virtual isa::Instruction last_exit() const = 0;
  };
  // Adds roles, parameters, classes and grid. Fails where loops nest deeper than the machine's.
  Expected<void> build(const Maker& maker, Kernel& kernel) const;

 private:
  const ProgramArena& arena_;
  std::map<uint64_t, std::vector<uint32_t>> ctas_;  // by CTA: program + 1 of each warp
};

}  // namespace warpfold::traces::accelsim
