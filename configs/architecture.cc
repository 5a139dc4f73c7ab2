#include "configs/architecture.h"

namespace warpfold::configs {

ProductFamily product_family(std::string_view architecture) {
  if (architecture == "sm_70" || architecture == "sm_75") return ProductFamily::kNone;
  if (architecture == "sm_90") return ProductFamily::kWgmma;
  return architecture.starts_with("sm_10") || architecture == "sm_110" ? ProductFamily::kTcgen05 : ProductFamily::kMmaSync;
}

}  // namespace warpfold::configs
