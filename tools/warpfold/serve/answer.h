#pragma once

#include <chrono>
#include <string>

#include "tools/warpfold/serve/child.h"
#include "tools/warpfold/serve/question.h"

namespace warpfold::serve {

// Returns the answer to a question as JSON:
//
//   command     the command line that writes the same result
//   exit_code   of the command
//   message     the reason if the command failed; otherwise empty
//   stopped     true if this program ended the command: by a newer question or a limit
//   seconds     from the question to the end of the command
//   finding     of a simulation or the limiter model: statements in plain words, most important first (configs/report.proto)
//   result      the command's output: JSON byte for byte, CSV as a text; absent if the command failed
std::string answer_json(const Question& question, const Ended& ended, std::chrono::duration<double> time);

// Returns the answer to a text that is not a valid question.
std::string refusal_json(const std::string& why);

}  // namespace warpfold::serve
