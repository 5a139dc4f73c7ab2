#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::serve {

// The names that a page may use: configurations, and the scenario that the user passed to `warpfold serve`. A question that could
// make a command read anything else is refused.
struct Names {
  std::vector<std::string> scenarios;
  std::vector<std::string> gpus;
  std::vector<std::string> models;
};

// One question of the page. It is a command of the program, restricted to what reads no file of the page's choice and writes none.
//
//   session 5d1e-simulate              a newer question of the same session ends this one
//   ask simulate                       model, simulate, compare (all policies), whatif, study
//   scenario qkv_philox_small
//   policy CONCURRENT                  default: the scenario's
//   gpu h200_sxm                       default: the scenario's
//   set kernel.rng.philox.rounds=10    as --set has it; repeatable, in order
//   unset kernel.rng                   as --unset has it; repeatable, in order
//   axis gpu.sm.tensor.scale=1,2,4     study alone, one or two: as --axis has it
//   policies sequential,concurrent     study alone: as --policies has it
struct Question {
  std::string session;
  std::string ask;
  std::string scenario;
  std::string policy;
  std::string gpu;
  std::vector<std::string> changes;  // words: "--set" or "--unset", and what it takes
  std::vector<std::string> axes;
  std::string policies;

  // Arguments of `warpfold`, the subcommand first. The answer is what this command writes to standard output.
  std::vector<std::string> words() const;
  // The same as a shell takes it: "warpfold simulate qkv_philox_small --format json".
  std::string command() const;
};

// Reads the lines of a question. Fails for a word that is unknown, for a name that `names` does not have, and for a setting that
// could name a file: of the schema's texts, only those that name kernels, streams and libraries may be set.
Expected<Question> read_question(std::string_view text, const Names& names);

}  // namespace warpfold::serve
