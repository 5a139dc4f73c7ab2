#pragma once

#include <string>
#include <string_view>

#include "configs/result.pb.h"

namespace warpfold::report {

// A resource in words: wgmma -> "tensor cores (wgmma)", issue_slot -> "issue slots". One that has none here: its name.
std::string resource_words(std::string_view resource);

// What warps in a state wait for, in words: gmma -> "outstanding wgmma".
std::string state_words(std::string_view state);

// A kernel of the result in words: "the GEMM", "the random numbers", "attention" where it is the only one of its kind, else its
// name. Its kind is that of the scenario's kernel whose work it does.
std::string kernel_words(const configs::Result& result, std::string_view kernel);
// What the result's policy does, as an advice: "Run the kernels side by side", "Hide the random numbers under the GEMM".
std::string policy_words(const configs::Result& result);
// The same as the owner of something: "the GEMM's", "the random numbers'".
std::string possessive(const std::string& words);
// At the beginning of a sentence.
std::string capitalised(std::string words);

}  // namespace warpfold::report
