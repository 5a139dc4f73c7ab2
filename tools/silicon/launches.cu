// What CTAs and kernels cost to start: an empty kernel from event to event, each further CTA of an SM that is full, and a kernel's
// launch behind another one in a stream.

#include "tools/silicon/report.h"

namespace silicon {
namespace {

__global__ void nothing() {}

double empty_us(int ctas, int threads) {
  return time_us(50, [&](cudaStream_t stream) { nothing<<<ctas, threads, 0, stream>>>(); }).median;
}

double empty_chain_us(int launches) {
  return time_us(20,
                 [&](cudaStream_t stream) {
                   for (int i = 0; i < launches; ++i) nothing<<<1, 32, 0, stream>>>();
                 })
      .median;
}

}  // namespace

void measure_launches(Report& report) {
  Measurement is;
  is.category = "LATENCY";
  is.unit = "us";
  is.kernel = "empty kernel";
  is.metric = "time from event to event";
  is.dims_other = "ctas=1;threads=32";
  is.value = empty_us(1, 32);
  report.add(is);

  constexpr int kMany = 200;
  is.metric = "time of each further launch in a stream";
  is.dims_other = "launches=" + std::to_string(kMany);
  is.value = (empty_chain_us(2 * kMany) - empty_chain_us(kMany)) / kMany;
  report.add(is);

  for (const int threads : {32, 128, 1024}) {
    const int sms = report.device().sms;
    constexpr int kFew = 64;
    constexpr int kMore = 1024;
    is.kernel = "empty CTA";
    is.metric = "time of each further CTA of an SM";
    is.dims_other = "threads=" + std::to_string(threads);
    is.value = (empty_us(sms * kMore, threads) - empty_us(sms * kFew, threads)) / (kMore - kFew);
    report.add(is);
  }
}

}  // namespace silicon
