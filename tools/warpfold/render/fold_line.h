#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// One line for people: how the result came about and how far it may be off.
std::string fold_line(const configs::Result& result);
// Another one: what --self-check has simulated again; empty without it.
std::string self_check_line(const configs::Result& result);

}  // namespace warpfold::cli
