#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::sim {

// What kernels do to each other, as factors on their times alone. An input of the limiter model, which knows no contention:
// measured by a simulation, or published.
struct Interference {
  std::string source = "none";
  double gemm_slowdown = 1;  // GEMMs over their whole time, with the random numbers made beside them
  double rng_slowdown = 1;   // random numbers while a GEMM runs beside them
  double dropping = 1;       // attention that drops elements by stored bits, over attention without dropout
  // Share of the random numbers' time that fusion into attention hides; none: the limiters of the merged instruction stream decide.
  std::optional<double> hidden_by_fusion = std::nullopt;
};

// The averages of silicon measurements that the paper puts into its model: Ma, Liu and Krashinsky, arXiv 2410.07531. They are
// nobody's default: only what `--interference paper` asks for.
Interference paper_interference();

// Times of a chain GEMMs -> random numbers -> attention, each kernel alone, in any one unit.
struct ChainTimes {
  double gemm = 0;  // all GEMMs that the random numbers may run beside
  double rng = 0;
  double attention = 0;  // without the step that drops elements, unless `attention_drops`
  double merged = 0;     // attention and random numbers in one instruction stream, by its limiters; 0: not known
  double others = 0;     // kernels that run by themselves however the chain is composed
};

struct Composition {
  std::string name;
  double total = 0;
  double gemm = 0;         // GEMMs, the random numbers beside them included
  double exposed_rng = 0;  // random numbers with nothing beside them
  double attention = 0;    // with dropping; with the random numbers where they are fused in
};

// Each kernel after the other.
Composition sequential(const ChainTimes& times, const Interference& interference);
// Random numbers made inside attention.
Composition fused(const ChainTimes& times, const Interference& interference);
// Random numbers beside the GEMMs; what is left of them when the GEMMs have ended runs alone, at full speed.
Composition overlapped(const ChainTimes& times, const Interference& interference);

// Where a chain lies: 1: the GEMMs dominate and hiding the random numbers gains little; 2: balanced, the best case; 3: the random
// numbers outlast the GEMMs and are exposed.
enum class Region { kGemmDominates = 1, kBalanced = 2, kRngExposed = 3 };
// Little: random numbers take less than this share of the sequential chain, so that not even hiding all of them, at no cost, makes
// the chain 1/(1 - 0.1) = 1.11 times as fast. assumed: the paper draws the regions without a rule.
inline constexpr double kLittleRng = 0.1;
Region region_of(const ChainTimes& times, const Interference& interference);

}  // namespace warpfold::sim
