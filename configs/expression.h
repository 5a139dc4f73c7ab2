#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// A condition on named numbers and texts, as studies have it:
//
//   embedding == 128 * heads and gpu.sm_count <= 144
//   not (gpu == 'h200_sxm' or rounds < 7)
//   SEQUENTIAL.total_time_us / CARVE_OUT.total_time_us >= 1.2
//
// Numbers: + - * / % and parentheses, compared by == != < <= > >=. Texts stand in ' ' and are compared by == and !=. Conditions:
// and, or, not. A name is letters, digits, _, . and [ ]; it begins with a letter.
using Word = std::variant<double, std::string>;
struct Words {
  std::function<std::optional<Word>(std::string_view name)> find;
  std::vector<std::string> known;  // for the message about a name that is none of them
};

// Fails where `text` is no condition, with the place in it: ""embedding = 3", character 11: expected an operator or the end".
Expected<bool> holds(const std::string& text, const Words& words);

// The value of an expression without conditions: "gpu.sm_count * gpu.clock_mhz / 1000". A text that is a name as a whole has the
// name's value, whatever its characters are. Fails as `holds` does; the value may be infinite or no number, as after a division by
// 0.
Expected<double> number_of(const std::string& text, const Words& words);

}  // namespace warpfold::configs
