// The co-run matrix: our own GEMM beside Philox keep bits.

#include "tools/silicon/co_run_pair.h"
#include "tools/silicon/philox_kernel.h"

namespace silicon {
namespace {

template <int kRounds, int kBits>
void measure(Report& report, const GemmKernel& gemm, std::uint32_t* out) {
  CoRunPair pair(report, gemm,
                 {"Philox", philox_kernel<kRounds, kBits>, out, 0xE0,
                  "rounds=" + std::to_string(kRounds) + ";threshold_bits=" + std::to_string(kBits)});
  for (const Placement& placement : placements(report.device().sms)) {
    for (const int ctas : {1, 2, 4}) pair.measure(placement, ctas);
  }
}

}  // namespace

void measure_co_run(Report& report) {
  if (report.device().compute != 90) return;
  Buffer<std::uint32_t> out(kPhiloxWords);
  for (const Type type : {Type::kBf16, Type::kFp8}) {
    const GemmData data(kCoRunShape, type);
    const GemmKernel gemm = tma_gemm(kCoRunShape, data);
    measure<7, 32>(report, gemm, out.get());
    measure<7, 8>(report, gemm, out.get());
    measure<3, 32>(report, gemm, out.get());
    measure<3, 8>(report, gemm, out.get());
  }
}

}  // namespace silicon
