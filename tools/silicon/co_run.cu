// The co-run matrix: our own GEMM beside Philox keep bits.

#include "tools/silicon/co_run_pair.h"
#include "tools/silicon/philox_kernel.h"

namespace silicon {
namespace {

template <int kRounds, int kBits>
void measure(Report& report, const GemmData& data, std::uint32_t* out) {
  CoRunPair pair(report, data,
                 {"Philox", philox_kernel<kRounds, kBits>, out, 0xE0,
                  "rounds=" + std::to_string(kRounds) + ";threshold_bits=" + std::to_string(kBits)});
  for (const Placement& placement : placements(report.device().sms)) {
    for (const int ctas : {1, 2, 4}) pair.measure(placement, ctas);
  }
}

}  // namespace

void measure_co_run(Report& report) {
  if (report.device().compute != 90) return;
  const GemmData data(kCoRunShape);
  Buffer<std::uint32_t> out(kPhiloxWords);
  measure<7, 32>(report, data, out.get());
  measure<7, 8>(report, data, out.get());
  measure<3, 32>(report, data, out.get());
  measure<3, 8>(report, data, out.get());
}

}  // namespace silicon
