#include "workloads/workloads.h"

namespace warpfold::workloads {

Expected<traces::Kernel> make_flash_attention_3(const configs::FlashAttention3& /*attention*/, const configs::Gpu& /*gpu*/) {
  return fail("flash_attention_3: not there yet");
}

}  // namespace warpfold::workloads
