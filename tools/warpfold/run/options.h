#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// With spaces or quotes in it, quoted as a shell would need it.
std::string shell_word(const std::string& word);

// How the program was called, for provenance.
std::string command_line(const std::string& program, const std::vector<std::string>& words);

// What every subcommand is given.
struct Invocation {
  std::vector<std::string> arguments;  // after the subcommand
  std::string command_line;
};

// One subcommand's options, read from its arguments. `--help` is among them always.
class Options {
 public:
  Options(std::string usage, std::string description, std::string examples);

  boost::program_options::options_description_easy_init add() { return visible_.add_options(); }
  // What the arguments without a flag are called, and how many there may be; `most` -1: any number.
  void positional(const std::string& what, int least, int most);
  void add_settings();               // --set, --unset, --gpu, NAME=VALUE
  void add_output(Format fallback);  // --format, --output
  void add_html();                   // --html
  void add_perfetto();               // --perfetto
  // The option names a file to write: no other one may name the same.
  void writes_file(const std::string& option) { written_.push_back(option); }

  Outcome<void> parse(const std::vector<std::string>& arguments);

  // The command's name, from its usage.
  std::string command() const { return command_; }
  bool help_wanted() const { return values_.count("help") > 0; }
  std::string help() const;
  const std::vector<std::string>& arguments() const { return arguments_; }
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  std::string text(const std::string& name) const { return values_[name].as<std::string>(); }
  // A whole number from `least` to `most`.
  Outcome<uint32_t> number(const std::string& name, uint32_t least, uint32_t most) const;
  std::vector<std::string> texts(const std::string& name) const { return values_[name].as<std::vector<std::string>>(); }

  // --set, --unset and words NAME=VALUE behind the first argument, in the order given; --gpu GPU and the word gpu=GPU are the
  // setting gpu_file=FILE, relative to the current folder, --model NAME the setting model=NAME.
  std::vector<std::string> settings() const;
  Outcome<Destination> destination() const;

 private:
  void take_settings(const boost::program_options::parsed_options& parsed);
  Outcome<void> check_written() const;

  std::string command_;
  std::string usage_;
  std::string examples_;
  boost::program_options::options_description visible_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
  std::vector<std::string> changes_;  // --set, --unset and words NAME=VALUE
  std::string gpu_;                   // --gpu GPU or the word gpu=GPU
  std::string positional_ = "argument";
  bool settings_ = false;  // --gpu is a file for scenarios
  std::string gpu_file_;
  std::vector<std::string> written_;  // options that name a file to write
  int least_ = 0;
  int most_ = 0;
  Format fallback_ = Format::kTable;
};

}  // namespace warpfold::cli
