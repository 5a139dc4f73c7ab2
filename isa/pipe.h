#pragma once

#include <string_view>

#include "configs/pipes.h"

namespace warpfold::isa {

using configs::kMathPipes;
using configs::kPipes;
using configs::Pipe;
using configs::PipePlace;
using configs::PipeRow;

constexpr std::string_view pipe_name(Pipe pipe) { return configs::row_of(pipe).name; }  // "alu", "fma_heavy", ...

}  // namespace warpfold::isa
