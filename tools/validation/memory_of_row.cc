#include <string>
#include <utility>

#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

Mapped<RowWork> memory_of_row(const MeasuredRow& row) {
  RowWork work;
  work.family = "memory-bound";
  work.kernel = row.text("kernel").empty() ? work.family : row.text("kernel");
  work.rate_unit = "GB/s";
  work.kernels.emplace_back().set_name("pass");
  configs::Elementwise& pass = *work.kernels.back().mutable_elementwise();
  std::string fields;
  if (const auto filled = fill_from_options(row, pass, fields); !filled) return std::unexpected(filled.error());
  if (!pass.has_operation() || !pass.has_elements() || !pass.has_element_bytes())
    return not_mapped("a memory-bound row needs operation, elements and element_bytes in dims_other");
  work.shape = configs::ElementwiseOperation_Name(pass.operation());
  work.shape.append(" ").append(std::to_string(pass.elements())).append(" x ").append(std::to_string(pass.element_bytes()));
  work.follows.emplace("block");
  const bool two_inputs = pass.operation() == configs::ADD || pass.operation() == configs::TRIAD;
  const double arrays = two_inputs ? 3 : pass.operation() == configs::FILL ? 1 : pass.operation() == configs::NARROW ? 1.5 : 2;
  work.work = static_cast<double>(pass.elements()) * pass.element_bytes() * arrays;
  return work;
}

}  // namespace warpfold::validation
