#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/places.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// Returns the values of a range: "100..160 step 10", "1..64 times 2", "1..1000 log 4", "1..4" (step 1), or descending
// ("4..1"). Any other text is one value, itself. Decimal numbers come out as decimal numbers, whole numbers as whole
// numbers. The diagnostic has no place.
Expected<std::vector<std::string>> axis_values(const std::string& written);

// Replaces the written values by these values, in axes and in settings that vary along with them. Fails if an axis and
// a setting along it have different numbers of values.
std::optional<Finding> expand_axes(Study& study);

// Reads "NAME=VALUE,VALUE,..." of --axis. A value may be a range.
Expected<Axis> axis_of(const std::string& text);

}  // namespace warpfold::configs
