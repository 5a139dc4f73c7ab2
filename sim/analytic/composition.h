#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::sim {

// Effect of kernels on each other, as factors on their times alone. The limiter model knows no contention, so the
// factors are inputs: measured by a simulation, or published.
struct Interference {
  std::string source = "none";
  double gemm_slowdown = 1;  // slowdown of the GEMMs' whole time, if the random numbers are generated beside them
  double rng_slowdown = 1;   // slowdown of the random numbers, while a GEMM runs beside them
  double dropping = 1;       // attention that drops elements by stored bits, relative to attention without dropout
  // Share of the random numbers' time that fusion into attention hides. Empty: the limiters of the merged instruction
  // stream decide.
  std::optional<double> hidden_by_fusion = std::nullopt;
};

// Returns the averages of silicon measurements that the paper's model uses (Ma, Liu and Krashinsky, arXiv 2410.07531).
// They are no default and apply only with `--interference paper`.
Interference paper_interference();

// Times of the chain GEMMs -> random numbers -> attention, each kernel alone, all in the same unit.
struct ChainTimes {
  double gemm = 0;  // all GEMMs beside which the random numbers may run
  double rng = 0;
  double attention = 0;  // without the step that drops elements; with it if Interference::dropping is 1
  double merged = 0;     // attention and random numbers in one instruction stream, by its limiters; 0: unknown
  double others = 0;     // kernels that run by themselves in every composition
};

struct Composition {
  std::string name;
  double total = 0;
  double gemm = 0;         // GEMMs, including random numbers beside them
  double exposed_rng = 0;  // random numbers with nothing beside them
  double attention = 0;    // with dropping, and with the random numbers if they are fused in
};

// Runs the kernels one after another.
Composition sequential(const ChainTimes& times, const Interference& interference);
// Generates the random numbers inside attention.
Composition fused(const ChainTimes& times, const Interference& interference);
// Runs the random numbers beside the GEMMs. Random numbers that remain after the GEMMs run alone, at full speed.
Composition overlapped(const ChainTimes& times, const Interference& interference);

// Regime of a chain. 1: the GEMMs dominate, and hiding the random numbers gains little. 2: balanced, the best case. 3:
// the random numbers outlast the GEMMs and are exposed.
enum class Region { kGemmDominates = 1, kBalanced = 2, kRngExposed = 3 };
// Region 1 begins where the random numbers take less than this share of the sequential chain. Hiding all of them at no
// cost then makes the chain at most 1/(1 - 0.1) = 1.11 times as fast. assumed: the paper draws the regions without a
// rule.
inline constexpr double kLittleRng = 0.1;
Region region_of(const ChainTimes& times, const Interference& interference);

}  // namespace warpfold::sim
