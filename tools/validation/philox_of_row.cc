#include <utility>

#include "configs/settings.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

Mapped<RowWork> philox_of_row(const MeasuredRow& row) {
  RowWork work;
  work.family = "Philox";
  work.kernel = "philox";
  work.kernels.emplace_back().set_name("rng");
  configs::Philox& philox = *work.kernels.back().mutable_philox();
  const google::protobuf::Descriptor& fields = *configs::Philox::descriptor();
  for (int f = 0; f < fields.field_count(); ++f) {
    const std::string& name = fields.field(f)->name();
    const std::string value = row.option(name);
    if (value.empty()) continue;
    if (const auto set = configs::set_field(philox, name, value); !set) return not_mapped("dims_other: " + set.error().message);
    work.shape.append(work.shape.empty() ? "" : " ").append(name).append("=").append(value);
  }
  if (!philox.has_rounds() || !philox.has_threshold_bits())
    return not_mapped("a random-number row needs rounds and threshold_bits in dims_other");
  return work;
}

}  // namespace warpfold::validation
