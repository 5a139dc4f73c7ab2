#pragma once

#include <string_view>

namespace warpfold::configs {

// The instructions by which an architecture multiplies matrices fastest, and with which its kernels are written. Source: PTX ISA,
// target notes of mma.m16n8k16 and cp.async (sm_80), wgmma.mma_async (sm_90a), tcgen05.mma (sm_100a, sm_103a,
// sm_110a).
enum class ProductFamily {
  kNone,     // sm_70, sm_75: no m16n8k16 and no cp.async
  kMmaSync,  // sm_80, sm_86, sm_87, sm_89, sm_120, sm_121
  kWgmma,    // sm_90
  kTcgen05,  // sm_100, sm_103, sm_110: sums in tensor memory
};
ProductFamily product_family(std::string_view architecture);

}  // namespace warpfold::configs
