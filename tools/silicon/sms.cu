// Bandwidth of L2 and DRAM for a few SMs, and for all SMs on arrays around the size of L2.

#include "tools/silicon/rates.h"
#include "tools/silicon/report.h"
#include "tools/silicon/stream_kernel.h"

namespace silicon {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Measures `ctas` CTAs of 1024 threads.
void measure(Report& report, const Buffer<uint4>& array, std::size_t bytes, int ctas, int ctas_per_sm, bool together,
             const char* where) {
  Buffer<unsigned> sink(1);
  // Each thread reads enough words for the launch to take one to two milliseconds.
  const unsigned each = (ctas < 33 ? 8192 : 4096) / ctas_per_sm * (bytes > 100 * kMiB ? 1 : 2);
  const auto words = static_cast<unsigned>(bytes / sizeof(uint4));
  const Spread us = time_us(5, [&](cudaStream_t on) {
    const auto kernel = together ? read_over_and_over<true> : read_over_and_over<false>;
    kernel<<<ctas, 1024, 0, on>>>(array.get(), words, each, sink.get());
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = together ? "stream read, the same by every SM" : "stream read";
  row.metric = "bandwidth";
  row.value = gb_per_s(1024.0 * ctas * each * sizeof(uint4), us.median);
  row.unit = "GB/s";
  row.dims_other = std::string("where=") + where + ";bytes_of_array=" + std::to_string(bytes) +
                   ";sms=" + std::to_string(ctas / ctas_per_sm) + ";threads_per_sm=" + std::to_string(1024 * ctas_per_sm);
  report.add(row);
}

// Measures writes that stay in L2.
void measure_writes(Report& report, const Buffer<uint4>& array, std::size_t bytes, int sms) {
  const unsigned each = sms < 33 ? 8192 : 4096;
  const Spread us = time_us(5, [&](cudaStream_t on) {
    write_over_and_over<<<sms, 1024, 0, on>>>(array.get(), static_cast<unsigned>(bytes / sizeof(uint4)), each);
  });
  Measurement row;
  row.category = "MEM";
  row.kernel = "stream init";
  row.metric = "bandwidth";
  row.value = gb_per_s(1024.0 * sms * each * sizeof(uint4), us.median);
  row.unit = "GB/s";
  row.dims_other = "where=L2;bytes_of_array=" + std::to_string(bytes) + ";sms=" + std::to_string(sms) + ";threads_per_sm=1024";
  report.add(row);
}

}  // namespace

void measure_sms(Report& report) {
  const Buffer<uint4> array(512 * kMiB / sizeof(uint4));
  for (const int sms : {1, 2, 4, 8, 12, 16, 20, 33, 50, 66, 99, 132}) {
    if (sms > report.device().sms) continue;
    measure(report, array, 6 * kMiB, sms, 1, false, "L2");
    measure(report, array, 20 * kMiB, sms, 1, false, "L2");
    measure(report, array, (sms < 33 ? 128 : 512) * kMiB, sms, 1, false, "DRAM");
    measure(report, array, 6 * kMiB, sms, 1, true, "L2");
    measure_writes(report, array, 6 * kMiB, sms);
    measure_writes(report, array, 20 * kMiB, sms);
  }
  for (const std::size_t mib : {6, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 80, 100})
    measure(report, array, mib * kMiB, 2 * report.device().sms, 2, false, "L2 and DRAM");
}

}  // namespace silicon
