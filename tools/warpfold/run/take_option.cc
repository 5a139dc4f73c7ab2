#include "tools/warpfold/run/take_option.h"

#include "configs/escape/quoted.h"

namespace warpfold::cli {

Outcome<std::optional<std::string>> take_option(std::vector<std::string>& words, std::string_view option) {
  std::optional<std::string> value;
  for (auto word = words.begin(); word != words.end();) {
    const bool joined = word->size() > option.size() && word->starts_with(option) && (*word)[option.size()] == '=';
    if (*word != option && !joined) {
      ++word;
      continue;
    }
    if (!joined && word + 1 == words.end())
      return user_error("the required argument for option '" + escape::unquoted(*word) + "' is missing");
    value = joined ? word->substr(option.size() + 1) : *(word + 1);
    word = words.erase(word, word + (joined ? 1 : 2));
  }
  return value;
}

}  // namespace warpfold::cli
