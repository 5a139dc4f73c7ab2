// silicon [--list] [NAME...] >FILE.csv: measures the GPU of this machine.

#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>

#include "tools/silicon/report.h"

namespace {

struct Benchmark {
  const char* name;
  void (*measure)(silicon::Report&);
};

constexpr std::array kBenchmarks{
    Benchmark{"pipes", silicon::measure_pipes},
    Benchmark{"ffma_registers", silicon::measure_ffma_registers},
    Benchmark{"co_issue", silicon::measure_co_issue},
    Benchmark{"issue_order", silicon::measure_issue_order},
    Benchmark{"barriers", silicon::measure_barriers},
    Benchmark{"launches", silicon::measure_launches},
    Benchmark{"dispatch", silicon::measure_dispatch},
    Benchmark{"memory", silicon::measure_memory},
    Benchmark{"l1", silicon::measure_l1},
    Benchmark{"l2_latency", silicon::measure_l2_latency},
    Benchmark{"sms", silicon::measure_sms},
    Benchmark{"dram_mix", silicon::measure_dram_mix},
    Benchmark{"write_back", silicon::measure_write_back},
    Benchmark{"atomics", silicon::measure_atomics},
    Benchmark{"wgmma", silicon::measure_wgmma},
    Benchmark{"wgmma_order", silicon::measure_wgmma_order},
    Benchmark{"arbiters", silicon::measure_arbiters},
    Benchmark{"mma_rounds", silicon::measure_mma_rounds},
    Benchmark{"philox", silicon::measure_philox},
    Benchmark{"gemm", silicon::measure_gemm},
    Benchmark{"cublas", silicon::measure_cublas},
    Benchmark{"co_run", silicon::measure_co_run},
    Benchmark{"co_run_memory", silicon::measure_co_run_memory},
};

bool wanted(const Benchmark& benchmark, int argc, char** argv) {
  if (argc == 1) return true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], benchmark.name) == 0) return true;
  }
  return false;
}

bool known(const char* name) {
  for (const Benchmark& benchmark : kBenchmarks) {
    if (std::strcmp(name, benchmark.name) == 0) return true;
  }
  return false;
}

// Runs the benchmarks one after the other. If one fails, it is reported, and the others still run.
int run(int argc, char** argv) {
  silicon::Report report(std::cout, "warpfold silicon kit");
  int failed = 0;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (!wanted(benchmark, argc, argv)) continue;
    const auto start = std::chrono::steady_clock::now();
    try {
      benchmark.measure(report);
    } catch (const std::exception& error) {
      std::cerr << benchmark.name << ": " << error.what() << "\n";
      ++failed;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cerr << benchmark.name << ": " << seconds.count() << " s\n";
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Benchmark& benchmark : kBenchmarks) std::cout << benchmark.name << "\n";
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    if (known(argv[i])) continue;
    std::cerr << "no benchmark called \"" << argv[i] << "\"; silicon --list names them\n";
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
