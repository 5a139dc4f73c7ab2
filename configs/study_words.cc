#include "configs/study_words.h"

#include <charconv>

namespace warpfold::configs {

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Word word_of(const std::string& text) {
  if (const auto number = number_in(text)) return *number;
  return text;
}

std::vector<std::string> words_of_axes(const Study& study) {
  std::vector<std::string> words;
  for (const Axis& axis : study.axis()) {
    words.push_back(axis.name());
    for (const Along& along : axis.along()) words.push_back(along.name());
  }
  return words;
}

std::vector<std::string> measures() { return {"total_time_us", "energy_j", "stored_bits_mb"}; }

std::vector<std::string> words_of_runs(const Study& study) {
  std::vector<std::string> words = words_of_axes(study);
  for (const std::string& measure : measures()) {
    if (study.policy_size() <= 1) words.push_back(measure);
    for (const int policy : study.policy()) words.push_back(PolicyKind_Name(static_cast<PolicyKind>(policy)) + "." + measure);
  }
  return words;
}

}  // namespace warpfold::configs
