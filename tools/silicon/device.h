#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/silicon/carve_out.h"
#include "tools/silicon/statistics.h"

// Helpers around the CUDA runtime for all benchmarks.
namespace silicon {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

struct Device {
  std::string name;
  std::string bus_id;
  int sms = 0;
  int compute = 0;  // 80, 90, 100
  SmLimits limits{};
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
};

inline Device current_device() {
  int index = 0;
  cudaDeviceProp is{};
  check(cudaGetDevice(&index), "no GPU");
  check(cudaGetDeviceProperties(&is, index), "the GPU's properties");
  char bus_id[32] = {};
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index), "the GPU's bus");
  const auto unsigned_of = [](int value) { return static_cast<std::uint32_t>(value); };
  return {is.name,
          bus_id,
          is.multiProcessorCount,
          10 * is.major + is.minor,
          {unsigned_of(is.regsPerMultiprocessor), static_cast<std::uint32_t>(is.sharedMemPerMultiprocessor),
           unsigned_of(is.maxThreadsPerMultiProcessor) / 32, unsigned_of(is.maxBlocksPerMultiProcessor),
           static_cast<std::uint32_t>(is.reservedSharedMemPerBlock)},
          static_cast<std::size_t>(is.l2CacheSize),
          is.totalGlobalMem};
}

// Global memory that is freed at the end of its scope.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    T* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)), "memory");
    memory_.reset(memory);
    clear();
  }
  T* get() const { return memory_.get(); }
  std::size_t count() const { return count_; }
  void clear() { check(cudaMemset(get(), 0, count_ * sizeof(T)), "clearing memory"); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost), "reading memory");
    return values;
  }
  void write(const std::vector<T>& values) {
    check(cudaMemcpy(get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "writing memory");
  }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::size_t count_;
  std::unique_ptr<T, Free> memory_;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Times each of `runs` launches between two events, in microseconds, after one uncounted launch.
template <typename Launch>
Spread time_us(int runs, Launch launch) {
  const Stream stream;
  launch(stream.get());
  check(cudaStreamSynchronize(stream.get()), "the first run");
  std::vector<double> times;
  for (int r = 0; r < runs; ++r) {
    const Event start;
    const Event end;
    check(cudaEventRecord(start.get(), stream.get()), "an event");
    launch(stream.get());
    check(cudaEventRecord(end.get(), stream.get()), "an event");
    check(cudaEventSynchronize(end.get()), "a run");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.get(), end.get()), "a time");
    times.push_back(1e3 * static_cast<double>(ms));
  }
  return spread_of(times);
}

}  // namespace silicon
