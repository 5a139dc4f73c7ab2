#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/memory_share.h"
#include "sim/memory/memory_spec.h"

namespace warpfold::sim {

// What each SM of a class asks L2 and DRAM for, on average, in 1/1000 byte a cycle.
struct MemoryDemand {
  uint64_t sms = 0;  // of the class
  uint64_t l2_read = 0;
  uint64_t l2_write = 0;
  uint64_t dram_read = 0;
  uint64_t dram_write = 0;  // stores that L2 writes back
  MemoryRates served{};     // meanwhile; none: by the chip

  bool operator==(const MemoryDemand&) const = default;
};

// The rates at which L2 and DRAM serve each class while it asks and the others ask for what they do on average: what these leave of
// the chip's, and no less than an even part. That is what generalised processor sharing comes to in both limits: a class that asks
// all the time gets what the others leave, and one that asks beside such a class gets an even part.
//
// Where the classes want more than a server has, it passes all it can: the rate is the one at which their demands, each with the
// time kept in which it did not wait, add up to that. A class wants more where it took 7/8 of what it was given (assumed). Without
// this, a hundred classes that each were given what the others left asked for twice what DRAM has in every second slice.
//
// Classes with the same demand are taken to be in lock step: they ask at the same moments, and share what the others leave.
//
// L2 writes back when DRAM has nothing to read: what others write takes nothing from a class, unless reads and writes together ask
// for nearly all of DRAM.
//
//   DRAM of 100 bytes a cycle, 4 SMs; a copy on 2 of them asks for all it can get, a GEMM on the others for 10 bytes a cycle each:
//   the copy is served at 80 bytes a cycle, 40 an SM, and the GEMM, whenever it asks, at 25 an SM
std::vector<MemoryRates> rates_beside(const MemorySpec& spec, const std::vector<MemoryDemand>& demands);

// Whether the classes have been served more than the chip can: their rates were made for less.
bool oversubscribed(const MemorySpec& spec, const std::vector<MemoryDemand>& demands);

// Whether a class with such a demand may go on at the rates `before` where `now` would be right. A class that asks for less than
// half of both seldom waits; one that asks for less than 7/8 may be off by an eighth, and another by a 32nd (assumed: an estimate
// by the demand of some thousand cycles is no better than that).
bool serve_alike(const MemoryRates& before, const MemoryRates& now, const MemoryDemand& demand);

// Relative error of a kernel's cycles, besides that of sampling, where classes are simulated at rates of their own, or where one
// that meets others in memory represents more than itself. measured (docs/sampling.md): 0.7 % over random scenarios on whole
// GPUs; 2.2 % of kernels that contend for two to six SMs.
inline constexpr double kSharedBandwidthError = 0.03;

}  // namespace warpfold::sim
