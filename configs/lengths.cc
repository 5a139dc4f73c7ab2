#include "configs/lengths.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "configs/escape/quoted.h"
#include "configs/read_file.h"

namespace warpfold::configs {
namespace {

namespace pb = google::protobuf;
using Locations = pb::TextFormat::ParseInfoTree;

Expected<void> read_answer(Answer& answer, const std::string& file, const Locations& locations) {
  if (answer.content_case() != Answer::kLengths) return {};
  const std::string path = (std::filesystem::path(file).parent_path() / answer.lengths()).lexically_normal().string();
  const auto text = read_file(path);
  if (!text) {
    const auto place = locations.GetLocation(Answer::descriptor()->FindFieldByNumber(Answer::kLengthsFieldNumber), -1);
    return fail_at(file, place.line + 1, place.column + 1, text.error().message);
  }
  const auto numbers = parse_lengths(path, *text);
  if (!numbers) return std::unexpected(numbers.error());
  answer.mutable_length()->Assign(numbers->begin(), numbers->end());
  return {};
}

// The answers of a KernelLaunch or a LaunchChoice.
template <typename Message>
Expected<void> read_answers(Message& message, const std::string& file, const Locations& locations) {
  const pb::FieldDescriptor* field = Message::descriptor()->FindFieldByName("answer");
  for (int i = 0; i < message.answer_size(); ++i) {
    if (auto read = read_answer(*message.mutable_answer(i), file, *locations.GetTreeForNested(field, i)); !read) return read;
  }
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

Expected<void> read_lengths(KernelLaunch& launch, const std::string& file, const Locations& locations) {
  if (auto read = read_answers(launch, file, locations); !read) return read;
  const pb::FieldDescriptor* field = KernelLaunch::descriptor()->FindFieldByNumber(KernelLaunch::kChoiceFieldNumber);
  for (int i = 0; i < launch.choice_size(); ++i) {
    if (auto read = read_answers(*launch.mutable_choice(i), file, *locations.GetTreeForNested(field, i)); !read) return read;
  }
  return {};
}

}  // namespace warpfold::configs
