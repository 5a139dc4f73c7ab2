#pragma once

#include <cstdint>
#include <vector>

#include "sim/memo/sm_class.h"
#include "sim/sampling/work.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// An SM class that is simulated, and what the SMs of other classes that it represents have to do less, summed over them: modulo
// 2^64, since of bytes and CTAs they may have more.
struct RepresentativeClass {
  struct Less {
    Work work;
    uint64_t ctas = 0;
  };
  SmClass sm_class;        // `sms` counts all
  std::vector<Less> less;  // per launch
  bool represents_others = false;
};

// Instructions of one SM of each class, summed over classes and launches.
uint64_t instructions_of(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images);

// Leaves out classes none of which can be the last to end, for bounded runs: of a million CTAs, one more or less on an SM is no
// reason to simulate another SM; of a few, whose warps drift against each other, it is. A class is represented if a mean of two
// that are simulated has as many instructions in every launch, and as many bytes and CTAs and as late an end but for the share
// `difference`; both differ from it by less than that in instructions. The class most like it represents it.
//
//   instructions  CTAs     difference 5 %
//   100           10       simulated: it has most instructions
//    98           14       simulated: it has most CTAs
//    98.5         12       represented: 1/2 of each is 99 and 12
//    96           11       represented
//    94            9       simulated: too far from any
//
// When a launch ends is reckoned from what each of its CTAs has to do, in their order. The rules that this takes are the named
// functions of representatives.cc: exact_ctas_only, ends_in_order, off_critical_path.
std::vector<RepresentativeClass> choose_representatives(std::vector<SmClass> classes, const std::vector<KernelImage>& images,
                                                        double difference);

}  // namespace warpfold::sim
