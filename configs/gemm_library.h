#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/gemm_library.pb.h"

namespace warpfold::configs {

// Returns the libraries that HopperGemm.library may name: the tables of configs/libraries, which are part of the
// program. Throws if a table cannot be read.
const std::vector<GemmLibrary>& gemm_libraries();

// Returns the library of this name, in upper or lower case; null: no library has it.
const GemmLibrary* find_gemm_library(std::string_view name);
// Returns `; did you mean "CUTLASS"?` for an unknown name.
std::string gemm_library_suggestion(std::string_view wrong);

// Returns the library that made a measured row, by the words of its `impl`. Of the libraries with kernels for the
// architecture, the one with the longest matching word counts. Null: no library's words match.
const GemmLibrary* gemm_library_of(std::string_view implementation, std::string_view architecture);

}  // namespace warpfold::configs
