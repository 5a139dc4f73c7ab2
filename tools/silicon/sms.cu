// What few SMs get of L2 and DRAM, and what all of them get of arrays around L2's size.

#include <algorithm>

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/stream_kernel.h"

namespace silicon {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void measure(Report& report, const Buffer<uint4>& array, std::size_t bytes, int ctas, int ctas_per_sm, const char* where) {
  Buffer<unsigned> sink(1);
  const double wanted = 96e6 * std::min(ctas, 66) / ctas_per_sm;  // bytes: some 1 to 2 ms
  const int passes = std::max(1, static_cast<int>(wanted / static_cast<double>(bytes)));
  const Spread us = time_us(5, [&](cudaStream_t on) {
    stream<Access::kRead><<<ctas, 1024, 0, on>>>(array.get(), nullptr, nullptr, bytes / sizeof(uint4), passes, sink.get());
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = "stream read";
  row.metric = "bandwidth";
  row.value = gb_per_s(static_cast<double>(bytes) * passes, us.median);
  row.unit = "GB/s";
  row.dims_other = std::string("where=") + where + ";bytes_of_array=" + std::to_string(bytes) +
                   ";sms=" + std::to_string(ctas / ctas_per_sm) + ";threads_per_sm=" + std::to_string(1024 * ctas_per_sm);
  report.add(row);
}

}  // namespace

void measure_sms(Report& report) {
  const Buffer<uint4> array(512 * kMiB / sizeof(uint4));
  for (const int sms : {1, 2, 4, 8, 16, 33, 66, 99, 132}) {
    if (sms > report.device().sms) continue;
    measure(report, array, 6 * kMiB, sms, 1, "L2");
    measure(report, array, 20 * kMiB, sms, 1, "L2");
    measure(report, array, (sms < 16 ? 128 : 512) * kMiB, sms, 1, "DRAM");
  }
  for (const std::size_t mib : {4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 80, 100})
    measure(report, array, mib * kMiB, 2 * report.device().sms, 2, "L2 and DRAM");
}

}  // namespace silicon
