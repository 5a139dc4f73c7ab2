#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Returns a word as a shell needs it: quoted if it contains spaces or quotes.
std::string shell_word(const std::string& word);

// Returns the command line of the program, for provenance.
std::string command_line(const std::string& program, const std::vector<std::string>& words);

// The arguments of a subcommand.
struct Invocation {
  std::vector<std::string> arguments;  // after the subcommand
  std::string command_line;
};

// The options of one subcommand, read from its arguments. `--help` is always among them.
class Options {
 public:
  Options(std::string usage, std::string description, std::string examples);

  boost::program_options::options_description_easy_init add() { return visible_.add_options(); }
  // Names the arguments without a flag and sets their least and largest number; `most` -1: any number.
  void positional(const std::string& what, int least, int most);
  void add_settings();  // --set, --unset, --gpu, NAME=VALUE
  void add_output();    // --format, --output
  void add_html();      // --html
  void add_perfetto();  // --perfetto
  // Marks an option that names an output file: no two such options may name the same file.
  void writes_file(const std::string& option) { written_.push_back(option); }

  // If the arguments ask for help, the failure is the help text with exit code kSuccess.
  Outcome<void> parse(const std::vector<std::string>& arguments);

  // Returns the command's name, from its usage.
  std::string command() const { return command_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // Returns an option's value; empty if the option is not given and has no default.
  std::string text(const std::string& name) const { return has(name) ? values_[name].as<std::string>() : std::string(); }
  // Returns the position of an option's value among the choices.
  Outcome<size_t> choice(const std::string& name, const std::vector<std::string>& choices) const;
  // Returns a whole number from `least` to `most`.
  Outcome<uint32_t> number(const std::string& name, uint32_t least, uint32_t most) const;
  std::vector<std::string> texts(const std::string& name) const {
    return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
  }

  // Returns the settings in the order given: --set, --unset and words NAME=VALUE after the first argument. --gpu GPU and the word
  // gpu=GPU become the setting gpu_file=FILE, relative to the current folder; --model NAME becomes model=NAME.
  std::vector<std::string> settings() const;
  const Destination& destination() const { return destination_; }

 private:
  void take_settings(const boost::program_options::parsed_options& parsed);
  Outcome<void> check_written() const;
  std::string help() const;
  Outcome<void> find_destination();

  std::string command_;
  std::string usage_;
  std::string examples_;
  boost::program_options::options_description visible_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
  std::vector<std::string> changes_;  // --set, --unset and words NAME=VALUE
  std::string gpu_;                   // --gpu GPU or the word gpu=GPU
  std::string positional_ = "argument";
  bool output_ = false;    // --format and --output are of add_output()
  bool settings_ = false;  // --gpu is a setting of scenarios
  std::string gpu_file_;
  std::vector<std::string> written_;  // options that name an output file
  int least_ = 0;
  int most_ = 0;
  Destination destination_{};
};

}  // namespace warpfold::cli
