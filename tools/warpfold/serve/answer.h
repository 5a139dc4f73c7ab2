#pragma once

#include <chrono>
#include <string>

#include "tools/warpfold/serve/child.h"
#include "tools/warpfold/serve/question.h"

namespace warpfold::serve {

// The answer to a question as JSON:
//
//   command     the command line that writes the same
//   exit_code   of the command
//   message     why it failed; empty where it did not
//   stopped     true where this program ended it: a newer question, a limit
//   seconds     from the question to its end
//   finding     of a simulation and of the limiter model: statements in plain words, the most important first
//   (configs/report.proto) result      what the command wrote, byte for byte where that is JSON, as a text where it is CSV; absent
//   where it failed
std::string answer_json(const Question& question, const Ended& ended, std::chrono::duration<double> time);

// The answer to what is no question.
std::string refusal_json(const std::string& why);

}  // namespace warpfold::serve
