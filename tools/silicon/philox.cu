// Keep bits by Philox, with every warp slot taken or with one warp per sub-core: sub-core cycles per call of a warp.

#include "tools/silicon/philox_kernel.h"
#include "tools/silicon/report.h"

namespace silicon {
namespace {

template <int kRounds, int kBits>
void measure(Report& report, int ctas_per_sm) {
  const Device& device = report.device();
  Buffer<std::uint32_t> out(kPhiloxWords);
  Buffer<SmWork> work(1);
  const unsigned pieces = static_cast<unsigned>(device.sms * ctas_per_sm) * 200;
  const auto kernel = philox_kernel<kRounds, kBits>;
  const std::uint32_t padding = ctas_per_sm == 1 ? padding_for(1, device.limits) - 128 : 0;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(padding)), "shared memory");
  std::vector<double> times;
  SmWork is{};
  for (int run = 0; run < 6; ++run) {
    work.write({fresh_work()});
    kernel<<<device.sms * ctas_per_sm, kPhiloxThreads, padding>>>(out.get(), pieces, 0xE0, {0, device.sms}, work.get(), nullptr);
    check(cudaGetLastError(), "Philox");
    check(cudaDeviceSynchronize(), "Philox");
    is = work.read().front();
    if (run > 0) times.push_back(static_cast<double>(is.end_ns - is.start_ns) / 1e3);
  }
  const double us = spread_of(times).median;
  const double clock = mhz_of(static_cast<double>(is.cycles), static_cast<double>(is.ns));
  Measurement row;
  row.category = "RNG";
  row.kernel = "Philox keep bits";
  row.dtype = "int32";
  row.dims_other = "rounds=" + std::to_string(kRounds) + ";threshold_bits=" + std::to_string(kBits) +
                   ";warps_per_sub_core=" + std::to_string(ctas_per_sm) + ";threads_per_cta=" + std::to_string(kPhiloxThreads);
  row.metric = "cycles of a sub-core for a call of a warp";
  row.value = us * clock * device.sms / (pieces * calls_of_piece<kBits>());
  row.unit = "cycles";
  row.clock_mhz = clock;
  report.add(row);
}

template <int kRounds>
void measure_rounds(Report& report) {
  const int full = static_cast<int>(report.device().limits.warps) / 4;
  for (const int ctas : {full, 1}) {
    measure<kRounds, 8>(report, ctas);
    measure<kRounds, 16>(report, ctas);
    measure<kRounds, 32>(report, ctas);
  }
}

}  // namespace

void measure_philox(Report& report) {
  measure_rounds<3>(report);
  measure_rounds<5>(report);
  measure_rounds<7>(report);
  measure_rounds<10>(report);
}

}  // namespace silicon
