#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/places.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// The values that one value of an axis stands for: "100..160 step 10", "1..64 times 2", "1..1000 log 4", "1..4" (step 1), the other
// way round too ("4..1"); any other text is itself. Decimal numbers come out as decimal numbers, whole ones as whole ones. The
// diagnostic has no place.
Expected<std::vector<std::string>> axis_values(const std::string& written);

// Puts those in the place of what is written, of axes and of what varies along with them. Fails where those are not as many.
std::optional<Finding> expand_axes(Study& study);

// "NAME=VALUE,VALUE,..." as --axis takes it, each value as an axis's.
Expected<Axis> axis_of(const std::string& text);

}  // namespace warpfold::configs
