#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/expression.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// Returns the number if the whole text is a decimal number.
std::optional<double> number_in(const std::string& text);
// Returns a number if the text is one, else the text.
Word word_of(const std::string& text);

// Returns the words of a condition of `where`: axes and settings that vary along with them.
std::vector<std::string> words_of_axes(const Study& study);
// Return the further words of a front and of a condition of `least`: measures of runs. If the study has several
// policies, each has its own.
std::vector<std::string> measures();
std::vector<std::string> words_of_runs(const Study& study);

}  // namespace warpfold::configs
