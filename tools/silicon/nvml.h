#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace silicon {

// Readings by the driver's library; 0 if it is missing. Power is the latest sample (one in some 20 ms), not the average over a
// second that nvmlDeviceGetPowerUsage gives: the power of a row that takes less than 20 ms says little about the row. The library
// is opened at run time, so that the kit builds without it.
struct Reading {
  double clock_mhz = 0;
  double power_w = 0;
  double temperature_c = 0;
};

class Nvml {
 public:
  explicit Nvml(const std::string& bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    const auto init = find<unsigned (*)()>("nvmlInit_v2");
    const auto by_bus = find<unsigned (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || by_bus == nullptr || init() != 0 || by_bus(bus_id.c_str(), &device_) != 0) device_ = nullptr;
  }

  Reading read() const {
    Reading is;
    if (device_ == nullptr) return is;
    constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM
    constexpr unsigned kGpuSensor = 0;
    unsigned value = 0;
    const auto clock = find<unsigned (*)(void*, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
    if (clock != nullptr && clock(device_, kSmClock, &value) == 0) is.clock_mhz = value;
    is.power_w = power_w();
    const auto temperature = find<unsigned (*)(void*, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
    if (temperature != nullptr && temperature(device_, kGpuSensor, &value) == 0) is.temperature_c = value;
    return is;
  }

  double power_w() const {
    if (device_ == nullptr) return 0;
    FieldValue instant{};
    instant.field = 186;  // NVML_FI_DEV_POWER_INSTANT
    const auto fields = find<unsigned (*)(void*, int, FieldValue*)>("nvmlDeviceGetFieldValues");
    if (fields == nullptr || fields(device_, 1, &instant) != 0 || instant.status != 0) return 0;
    return static_cast<double>(instant.value & 0xffffffffU) / 1e3;
  }

 private:
  struct FieldValue {  // nvmlFieldValue_t
    unsigned field;
    unsigned scope;
    long long timestamp;
    long long latency_us;
    unsigned type;
    unsigned status;
    unsigned long long value;
  };

  template <typename Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;  // stays open for the lifetime of the program
  void* device_ = nullptr;
};

}  // namespace silicon
