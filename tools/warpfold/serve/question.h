#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::serve {

// The names that a page may use: configurations, and the scenario that the user passed to `warpfold serve`. A question that could
// make a command read any other file is refused.
struct Names {
  std::vector<std::string> scenarios;
  std::vector<std::string> gpus;
  std::vector<std::string> models;
};

// One question of the page: a command of the program that can neither read a file of the page's choice nor write a file.
//
//   session 5d1e-simulate              a newer question of the same session ends this one
//   ask simulate                       model, simulate, compare (all policies), whatif, study, cycles
//   scenario qkv_philox_small
//   policy CONCURRENT                  default: the scenario's
//   gpu h200_sxm                       default: the scenario's
//   set kernel.rng.philox.rounds=10    same syntax as --set; repeatable, in order
//   unset kernel.rng                   same syntax as --unset; repeatable, in order
//   axis gpu.sm.tensor.scale=1,2,4     of a study only, one or two: same syntax as --axis
//   policies sequential,concurrent     of a study only: same syntax as --policies
//   from 12000                         of cycles only: --from; likewise count, sub-core and sm-class
struct Question {
  std::string session;
  std::string ask;
  std::string scenario;
  std::string policy;
  std::string gpu;
  std::vector<std::string> changes;  // words: "--set" or "--unset", each with its argument
  std::vector<std::string> axes;
  std::string policies;
  std::vector<std::string> window;  // words of cycles: "--from", "--count", "--sub-core", "--sm-class", each with its number

  // Returns the arguments of `warpfold`, the subcommand first. The answer is the standard output of this command.
  std::vector<std::string> words() const;
  // Returns the same as a shell command: "warpfold simulate qkv_philox_small --format json".
  std::string command() const;
};

// Reads the lines of a question. Fails for an unknown word, for a name that is not in `names`, and for a setting that could name a
// file. Of the schema's texts, only names of kernels, streams and libraries may be set.
Expected<Question> read_question(std::string_view text, const Names& names);

}  // namespace warpfold::serve
