#pragma once

#include <ostream>
#include <string>

#include "tests/support/machine.h"

namespace warpfold::test {

// A warpgroup that issues `count` dependent wgmma m64nNk16, commits them as one group and waits for it.
struct WgmmaChain {
  int columns = 64;
  bool a_in_registers = false;  // true: A in R8-R11 (RS); false: A in shared memory (SS)
  int count = 64;
};

inline std::ostream& operator<<(std::ostream& stream, const WgmmaChain& chain) {
  return stream << "n" << chain.columns << (chain.a_in_registers ? "_rs" : "_ss");
}

inline std::string wgmma_text(const WgmmaChain& chain) {
  return text(
      {"HGMMA.64x", std::to_string(chain.columns), "x16.F32.BF16 R24, ", chain.a_in_registers ? "R8, " : "", "gdesc[UR8], R24"});
}

inline Lines wgmma_lines(const WgmmaChain& chain) {
  Lines lines = {op("WARPGROUP.ARRIVE")};
  if (chain.count > 1) lines = join(lines, loop(static_cast<uint64_t>(chain.count - 1), {op(wgmma_text(chain))}));
  return join(lines, {op(wgmma_text(chain), {}, "commit"), op("WARPGROUP.DEPBAR.LE gsb0, 0x0", {.stall = 2})});
}

inline traces::Kernel wgmma_kernel(const WgmmaChain& chain) { return on_all_sub_cores("sm_90", 4, wgmma_lines(chain), "wgmma"); }

}  // namespace warpfold::test
