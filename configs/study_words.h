#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/expression.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// A whole text that is a decimal number.
std::optional<double> number_in(const std::string& text);
// A number where the text is one, else the text.
Word word_of(const std::string& text);

// What a condition of `where` may name: axes and what varies along with them.
std::vector<std::string> words_of_axes(const Study& study);
// What a front and a condition of `least` may name besides: measures of runs, of each policy where the study has several.
std::vector<std::string> measures();
std::vector<std::string> words_of_runs(const Study& study);

}  // namespace warpfold::configs
