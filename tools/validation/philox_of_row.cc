#include <utility>

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

Mapped<RowWork> philox_of_row(const MeasuredRow& row) {
  RowWork work;
  work.family = "Philox";
  work.kernel = "philox";
  work.follows.emplace("block");
  work.kernels.emplace_back().set_name("rng");
  configs::Philox& philox = *work.kernels.back().mutable_philox();
  if (const auto filled = fill_from_options(row, philox, work.shape); !filled) return std::unexpected(filled.error());
  if (!philox.has_rounds() || !philox.has_threshold_bits())
    return not_mapped("a random-number row needs rounds and threshold_bits in dims_other");
  return work;
}

}  // namespace warpfold::validation
