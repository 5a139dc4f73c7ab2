#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/kernel_launch.pb.h"
#include "configs/places.h"
#include "traces/import/listed_constants.h"
#include "traces/import/listed_parameters.h"

namespace warpfold::sass {

// A 32-bit word of constant bank 0.
struct ConstantWord {
  uint32_t value = 0;
  int16_t array = -1;   // array that the word, as the low or high half of an address, points into; -1: none
  int8_t inverse = -1;  // the float inverse of the cluster's extent in this dimension, by which kernels divide CTA
                        // indices; -1: not an inverse
};

struct ArrayFacts {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// A tensor map, which describes the boxes of an array that TMA moves.
struct TensorMapFacts {
  int16_t array = -1;
  uint32_t element_bytes = 0;
  std::vector<uint64_t> pitch;  // bytes from one element to the next, per dimension
  std::vector<uint32_t> box;    // elements per dimension
};

struct AnswerFacts {
  enum class Kind : uint8_t { kTaken, kValue, kSectors, kUniform };
  Kind kind = Kind::kTaken;
  int64_t value = 0;                   // executions taken, the value, the sectors, or the number of values to draw from
  std::vector<uint32_t> numbers = {};  // values to draw from; empty: 0 to value - 1
  std::vector<uint32_t> likely = {};   // cumulative weights of the values; empty: equal weights
  uint32_t of = 1;
};

// A launch as the executor uses it: with all defaults filled in, and parameters laid out in constant bank 0.
struct LaunchFacts {
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  std::map<uint32_t, ConstantWord> constants;  // by offset in bank 0; in other banks by bank * kBankBytes + offset
  std::vector<ArrayFacts> arrays;
  std::map<uint64_t, TensorMapFacts> tensor_maps;   // by address
  int16_t local_array = -1;                         // index in `arrays` of the threads' local memory; -1: none
  uint32_t local_words = 0;                         // words of four bytes per thread
  uint64_t parameters = 0;                          // address of the first parameter
  uint32_t parameters_offset = 0;                   // offset of the first parameter in bank 0
  std::vector<ListedParameter> signature;           // by rising offset; empty: the listing does not state it
  std::map<int, std::vector<AnswerFacts>> answers;  // by line of the listing, one answer of each kind

  // Returns nullptr if there is no such answer.
  const AnswerFacts* answer(int line, AnswerFacts::Kind kind) const;
  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  uint32_t warps() const { return (threads() + 31) / 32; }
  uint64_t ctas() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
  uint32_t cluster_ctas() const { return cluster[0] * cluster[1] * cluster[2]; }
  std::array<uint32_t, 3> clusters() const { return {grid[0] / cluster[0], grid[1] / cluster[1], grid[2] / cluster[2]}; }
  std::vector<std::array<uint32_t, 3>> places_in_cluster() const;  // places of the cluster's CTAs, by rank
};

// Alignment in bytes of CUtensorMap as a parameter: CUDA 12 (cuda.h: alignas(64)) and CUDA 13 (alignas(128)).
inline constexpr uint32_t kTensorMapAlignment = 64;
inline constexpr uint32_t kTensorMapAlignment13 = 128;

// Lays out the parameters at the place that the architecture's ABI gives them: from c[0x0][0x160] before sm_90, 0x210
// on sm_90, 0x380 on later architectures.
//
// `listed`: the signature, if the listing has it. It supplies offsets and sizes of parameters that the description
// omits. If the description contradicts it, the call fails and the message states both.
Expected<LaunchFacts> launch_facts(const configs::KernelLaunch& launch, const std::string& architecture,
                                   const configs::Places& places, uint32_t tensor_map_alignment = kTensorMapAlignment,
                                   std::span<const ListedParameter> listed = {});

}  // namespace warpfold::sass
