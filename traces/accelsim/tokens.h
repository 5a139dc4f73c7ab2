#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace warpfold::traces::accelsim {

// Words of a line, separated by blanks.
class Tokens {
 public:
  explicit Tokens(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) { skip(); }

  bool ended() const { return at_ == end_; }
  const char* position() const { return at_; }
  std::string_view next() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t') ++at_;
    const std::string_view word(begin, static_cast<size_t>(at_ - begin));
    skip();
    return word;
  }

  // Reads the next word as a number. Returns false if it is no number.
  template <typename Number>
  bool number(Number& value) {
    return whole(next(), value, 10);
  }
  // Reads a hexadecimal number, with or without 0x.
  bool hexadecimal(uint64_t& value) {
    std::string_view word = next();
    if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
    return whole(word, value, 16);
  }

  template <typename Number>
  static bool whole(std::string_view word, Number& value, int base = 10) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    return error == std::errc{} && end == word.data() + word.size() && !word.empty();
  }
  static bool whole_real(std::string_view word, double& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() && !word.empty();
  }

 private:
  void skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }

  const char* at_;
  const char* end_;
};

}  // namespace warpfold::traces::accelsim
