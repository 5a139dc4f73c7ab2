#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "tools/silicon/csv_writer.h"
#include "tools/silicon/device.h"
#include "tools/silicon/nvml.h"

namespace silicon {

// Collects the measurements of all benchmarks. A row's clock is the clock that the SMs counted during the measurement, or the
// driver's reading if the benchmark did not count it.
class Report {
 public:
  Report(std::ostream& out, const std::string& source)
      : device_(current_device()), nvml_(device_.bus_id), writer_(out, device_.name, source) {}

  const Device& device() const { return device_; }
  double power_w() const { return nvml_.power_w(); }

  void add(Measurement is) {
    is.id = "K" + std::to_string(++rows_);
    const Reading reading = nvml_.read();
    if (is.clock_mhz == 0) is.clock_mhz = reading.clock_mhz;
    if (is.power_w == 0) is.power_w = reading.power_w;
    is.temperature_c = reading.temperature_c;
    if (is.impl.empty()) is.impl = "silicon kit";
    writer_.write(is);
  }

 private:
  Device device_;
  Nvml nvml_;
  CsvWriter writer_;
  int rows_ = 0;
};

// The benchmarks, one per file.
void measure_pipes(Report& report);
void measure_ffma_registers(Report& report);
void measure_co_issue(Report& report);
void measure_issue_order(Report& report);
void measure_barriers(Report& report);
void measure_launches(Report& report);
void measure_memory(Report& report);
void measure_wgmma(Report& report);
void measure_wgmma_order(Report& report);
void measure_philox(Report& report);
void measure_gemm(Report& report);
void measure_cublas(Report& report);
void measure_co_run(Report& report);
void measure_co_run_memory(Report& report);
void measure_arbiters(Report& report);
void measure_mma_rounds(Report& report);
void measure_dram_mix(Report& report);
void measure_write_back(Report& report);
void measure_sms(Report& report);
void measure_l2_latency(Report& report);
void measure_l1(Report& report);
void measure_dispatch(Report& report);
void measure_atomics(Report& report);

}  // namespace silicon
