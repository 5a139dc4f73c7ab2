#pragma once

#include <string>
#include <string_view>

#include "configs/result.pb.h"

namespace warpfold::report {

// Returns a resource in words: wgmma -> "tensor cores (wgmma)", issue_slot -> "issue slots". A resource without words here keeps
// its name.
std::string resource_words(std::string_view resource);

// Returns in words the cause of a wait state: gmma -> "outstanding wgmma".
std::string state_words(std::string_view state);

// True if the policy lets kernels of different streams have CTAs on the same SM.
bool places_side_by_side(std::string_view policy);

// Returns a kernel of the result in words: "the GEMM", "the random numbers" or "attention" if it is the only kernel of its kind,
// otherwise its name. The kind is that of the scenario's kernel whose work it does.
std::string kernel_words(const configs::Result& result, std::string_view kernel);
// Returns the result's policy as an advice: "Run the kernels side by side", "Hide the random numbers under the GEMM".
std::string policy_words(const configs::Result& result);
// Returns the possessive form: "the GEMM's", "the random numbers'".
std::string possessive(const std::string& words);
// Returns words for the beginning of a sentence.
std::string capitalised(std::string words);

}  // namespace warpfold::report
