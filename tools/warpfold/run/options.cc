#include "tools/warpfold/run/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "configs/settings.h"
#include "configs/write_file.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/log.h"

namespace warpfold::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kPlain = "positional-arguments";  // never typed: Boost's name for words without a flag

constexpr unsigned kHelpColumns = 120;

std::vector<std::string> flag_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted(1, '\'');
  for (const char letter : word) {
    if (letter == '\'') {
      quoted.append("'\\''");
    } else {
      quoted += letter;
    }
  }
  return quoted.append(1, '\'');
}

std::string command_line(const std::string& program, const std::vector<std::string>& words) {
  std::string line = shell_word(program);
  for (const std::string& word : words) line += " " + shell_word(word);
  return line;
}

Options::Options(std::string usage, std::string description, std::string examples)
    : usage_(std::move(usage)), examples_(std::move(examples)), visible_("Options", kHelpColumns) {
  constexpr std::string_view kProgram = "warpfold ";
  command_ = usage_.substr(kProgram.size(), usage_.find(' ', kProgram.size()) - kProgram.size());
  usage_ = "Usage: " + usage_ + "\n\n" + description + (description.ends_with('\n') ? "" : "\n");
  add()("help,h", "print this text");
}

void Options::positional(const std::string& what, int least, int most) {
  positional_ = what;
  least_ = least;
  most_ = most;
}

void Options::add_settings() {
  settings_ = true;
  add()("set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "set a parameter or a field of the scenario; PATH+=VALUE appends to a list, PATH-=VALUE removes from it; * in a path "
        "matches any name; repeatable");
  add()("unset", po::value<std::vector<std::string>>()->composing()->value_name("PATH"),
        "clear a field, or remove an element such as kernel.rng from its list; repeatable");
  add()("gpu", po::value<std::string>()->value_name("FILE"),
        "run on this GPU instead of the scenario's gpu_file: a file, or a name of `warpfold gpu list`");
}

void Options::add_output() {
  output_ = true;
  add()("format", po::value<std::string>()->value_name("FORMAT"),
        "table, json or csv (default: by the output file's name, else table)");
  add()("output,o", po::value<std::string>()->value_name("FILE"), "write to this file (.txt, .json, .csv) instead of the terminal");
  writes_file("output");
}

void Options::add_html() {
  add()("html", po::value<std::string>()->value_name("FILE"),
        "also write a page with charts to this file; the page needs no network");
  writes_file("html");
}

void Options::add_perfetto() {
  add()("perfetto", po::value<std::string>()->value_name("FILE"),
        "also write the timeline to this file, as a trace for ui.perfetto.dev");
  writes_file("perfetto");
}

Outcome<void> Options::parse(const std::vector<std::string>& arguments) {
  po::options_description all;
  all.add(visible_);
  all.add_options()(kPlain, po::value<std::vector<std::string>>());
  po::positional_options_description plain;
  plain.add(kPlain, -1);
  // Refuses abbreviated flags, since their meaning would change with every new flag.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    const auto parsed = po::command_line_parser(arguments).options(all).positional(plain).style(style).run();
    po::store(parsed, values_);
    take_settings(parsed);
  } catch (const po::unknown_option& error) {
    return user_error("unknown option " + escape::unquoted(error.get_option_name()) +
                      suggestion(error.get_option_name(), flag_names(visible_)));
  } catch (const po::error& error) {
    return user_error(escape::remark(error.what()));
  }
  if (has("help")) return std::unexpected(Failure(kSuccess, help()));
  const int given = static_cast<int>(arguments_.size());
  if (given < least_) return user_error(positional_ + " is missing; see --help");
  if (most_ >= 0 && given > most_)
    return user_error("unexpected argument " + escape::quoted(arguments_[static_cast<size_t>(most_)]));
  if (settings_ && !gpu_.empty()) {
    const auto file = find_of_kind(gpu_, FileKind::kGpu, "--gpu");
    if (!file) return user_error(file.error().text.starts_with("no gpu") ? "--gpu: " + file.error().text : file.error().text);
    gpu_file_ = *file;
  }
  if (auto checked = check_written(); !checked) return checked;
  return find_destination();
}

void Options::take_settings(const po::parsed_options& parsed) {
  constexpr std::string_view kGpu = "gpu=";
  for (const auto& option : parsed.options) {
    const std::string& name = option.string_key;
    for (const std::string& value : option.value) {
      if (name == "set") changes_.push_back(value);
      if (name == "unset") changes_.push_back(configs::unset_setting(value));
      if (name == "gpu") gpu_ = value;
      if (name != kPlain) continue;
      std::error_code missing;
      const bool setting =
          settings_ && !arguments_.empty() && value.find('=') != std::string::npos && !std::filesystem::exists(value, missing);
      if (!setting) {
        arguments_.push_back(value);
      } else if (value.starts_with(kGpu)) {
        gpu_ = value.substr(kGpu.size());
      } else {
        changes_.push_back(value);
      }
    }
  }
}

Outcome<void> Options::check_written() const {
  std::map<std::filesystem::path, std::string> seen;
  for (const std::string& option : written_) {
    if (!has(option) || text(option).empty()) continue;
    const auto file = file_behind(text(option));
    if (!file) continue;
    const std::string given = "--" + option + " " + escape::path(text(option));
    const auto [first, is_new] = seen.emplace(*file, given);
    if (!is_new) return user_error(given + ": the same file as " + first->second);
  }
  return {};
}

std::string Options::help() const {
  std::ostringstream out;
  out << usage_ << "\n" << visible_ << "\n" << limit_help() << log_help() << "\nExamples:\n" << examples_;
  return out.str();
}

Outcome<size_t> Options::choice(const std::string& name, const std::vector<std::string>& choices) const {
  const auto found = std::ranges::find(choices, text(name));
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  return user_error("--" + name + ": unknown choice " + escape::quoted(text(name)) + suggestion(text(name), choices));
}

Outcome<uint32_t> Options::number(const std::string& name, uint32_t least, uint32_t most) const {
  const std::string given = text(name);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  const bool good = error == std::errc() && end == given.data() + given.size() && number >= least && number <= most;
  if (good) return number;
  return user_error("--" + name + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
                    escape::quoted(given));
}

std::vector<std::string> Options::settings() const {
  std::vector<std::string> settings;
  if (!gpu_file_.empty()) settings.push_back("gpu_file=" + std::filesystem::absolute(gpu_file_).string());
  if (settings_ && has("model")) settings.push_back("model=" + text("model"));
  settings.insert(settings.end(), changes_.begin(), changes_.end());
  return settings;
}

Outcome<void> Options::find_destination() {
  if (!output_) return {};
  destination_.path = text("output");
  if (!has("format") && destination_.path.empty()) return {};
  const auto format = has("format") ? format_by_name(text("format")) : format_by_file_name(destination_.path);
  if (!format) return std::unexpected(format.error());
  destination_.format = *format;
  return {};
}

}  // namespace warpfold::cli
