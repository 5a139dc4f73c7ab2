// The cost of starting CTAs and kernels: an empty kernel from event to event; each further CTA on a full SM; and a kernel's launch
// after another kernel in a stream, as a node of a graph, and programmatically (it may start before the previous kernel has ended).

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

__global__ void starts_next() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

// Time of a graph of `launches` kernels, one after the other.
double graph_us(int launches, int ctas, bool programmatic) {
  const Stream stream;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "a graph");
  for (int i = 0; i < launches; ++i) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ctas));
    config.blockDim = dim3(128);
    config.stream = stream.get();
    config.attrs = &attribute;
    config.numAttrs = programmatic ? 1 : 0;
    check(cudaLaunchKernelEx(&config, programmatic ? starts_next : nothing), "a launch");
  }
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream.get(), &graph), "a graph");
  cudaGraphExec_t instance = nullptr;
  check(cudaGraphInstantiate(&instance, graph, 0), "a graph");
  const double us = time_us(10, [&](cudaStream_t on) { check(cudaGraphLaunch(instance, on), "a graph"); }).median;
  cudaGraphExecDestroy(instance);
  cudaGraphDestroy(graph);
  return us;
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

  for (const int ctas : {1, report.device().sms}) {
    is.dims_other = "launches=" + std::to_string(kMany) + ";ctas=" + std::to_string(ctas) + ";threads=128";
    is.metric = "time of each further launch in a graph";
    is.value = (graph_us(2 * kMany, ctas, false) - graph_us(kMany, ctas, false)) / kMany;
    report.add(is);
    if (report.device().compute < 90) continue;
    is.metric = "time of each further programmatic launch in a graph";
    is.value = (graph_us(2 * kMany, ctas, true) - graph_us(kMany, ctas, true)) / kMany;
    report.add(is);
  }

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
