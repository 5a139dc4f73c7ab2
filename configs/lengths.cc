#include "configs/lengths.h"

#include <algorithm>
#include <charconv>

#include "configs/read_file.h"
#include "escape/quoted.h"

namespace warpfold::configs {
namespace {

Expected<void> read_lengths(Answer& answer, const std::filesystem::path& folder) {
  if (answer.content_case() != Answer::kLengths) return {};
  const std::string file = (folder / answer.lengths()).lexically_normal().string();
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  const auto numbers = parse_lengths(file, *text);
  if (!numbers) return std::unexpected(numbers.error());
  answer.mutable_length()->Assign(numbers->begin(), numbers->end());
  return {};
}

}  // namespace

Expected<std::vector<uint32_t>> parse_lengths(const std::string& file, std::string_view text) {
  std::vector<uint32_t> numbers;
  int line = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    const std::string_view words = whole.substr(0, whole.find('#'));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    constexpr std::string_view kSpace = " \t\r";
    for (size_t at = words.find_first_not_of(kSpace); at != std::string_view::npos;) {
      const size_t behind = std::min(words.find_first_of(kSpace, at), words.size());
      uint32_t number = 0;
      const auto [stop, error] = std::from_chars(words.data() + at, words.data() + behind, number);
      const int column = static_cast<int>(at) + 1;
      if (error != std::errc{} || stop != words.data() + behind) {
        return fail_at(file, line, column,
                       "expected a number from 0 to 4294967295, not " + escape::quoted(words.substr(at, behind - at)));
      }
      if (numbers.size() == kMostLengths) return fail_at(file, line, column, "more than 1000000 numbers");
      numbers.push_back(number);
      at = words.find_first_not_of(kSpace, behind);
    }
  }
  if (numbers.empty()) return fail_at(file, 1, 1, "no number; expected lengths, with white space between them");
  return numbers;
}

Expected<void> read_lengths(KernelLaunch& launch, const std::filesystem::path& folder) {
  for (Answer& answer : *launch.mutable_answer()) {
    if (auto read = read_lengths(answer, folder); !read) return read;
  }
  for (LaunchChoice& choice : *launch.mutable_choice()) {
    for (Answer& answer : *choice.mutable_answer()) {
      if (auto read = read_lengths(answer, folder); !read) return read;
    }
  }
  return {};
}

}  // namespace warpfold::configs
