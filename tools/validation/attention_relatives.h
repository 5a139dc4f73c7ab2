#pragma once

#include <string>
#include <string_view>

#include "configs/scenario.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

// Attention of a library that has no generator here is simulated by a relative: the generator of another library. A relative
// multiplies by the same instructions, keeps the same operand in a CTA and loops over the other one, so its arithmetic and its
// traffic are the measured kernel's. Rows of relatives form families of their own. Their errors add the distance between two
// libraries to the simulator's error, so they judge no generator.
struct AttentionRelative {
  std::string_view library;           // in groups of rows
  std::string_view generator;         // flash_attention_2, flash_attention_3, flash_attention_4
  std::string_view differs;           // how the simulated kernel differs from the measured one
  void (*forward)(configs::Kernel&);  // sets the facts that are public; nullptr: none
  void (*backward)(configs::Kernel&);
};

// Returns the relative of the row's library on GPUs of `architecture`. Not mapped: no relative is near enough, with the reason.
Mapped<AttentionRelative> attention_relative_of(const MeasuredRow& row, std::string_view architecture);

}  // namespace warpfold::validation
