#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/gemm_library.pb.h"

namespace warpfold::configs {

// The tables of configs/libraries, which are part of the program: what HopperGemm.library may name. A table of ours that cannot be
// read throws.
const std::vector<GemmLibrary>& gemm_libraries();

// None: no library has this name, upper and lower case being the same.
const GemmLibrary* find_gemm_library(std::string_view name);
// `; did you mean "CUTLASS"?`, as of an unknown name.
std::string gemm_library_suggestion(std::string_view wrong);

// The library that made a measured row, by the words of its `impl`: of those with kernels for the architecture the one whose
// longest word stands in it. None: no library's does.
const GemmLibrary* gemm_library_of(std::string_view implementation, std::string_view architecture);

}  // namespace warpfold::configs
