#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace warpfold::fuzz {

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace

std::string Mutator::next() {
  std::string input = any_file();
  size_t changes = 1 + below(8);
  changes = 1 + below(changes);  // mostly few: an input that is wrong in many places is refused at the first
  for (; changes > 0; --changes) change(input);
  return input;
}

// At most 64 bytes of any file.
std::string Mutator::any_part() {
  const std::string& file = any_file();
  if (file.empty()) return {};
  const size_t begin = below(file.size());
  return file.substr(begin, 1 + below(64));
}

void Mutator::change(std::string& input) {
  const size_t at = below(input.size() + 1);
  const size_t kind = below(8);
  if (kind == 0) return void(input.insert(at, any_part()));
  if (at == input.size()) return void(input.push_back(static_cast<char>(below(256))));
  switch (kind) {
    case 1:
      input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
      return;
    case 2:
      input[at] = static_cast<char>(below(256));
      return;
    case 3:
      input.erase(at, 1 + below(32));
      return;
    case 4:
      input.insert(at, input.substr(at, 1 + below(64)));
      return;
    case 5: {
      const std::string part = any_part();
      input.replace(at, part.size(), part);
      return;
    }
    case 6:
      input.insert(at, 1 + below(4), input[at]);
      return;
    default:
      change_number(input);
  }
}

// Puts another one in the place of the first number behind some byte.
void Mutator::change_number(std::string& input) {
  constexpr std::array<std::string_view, 14> kNumbers{
      "0",     "1",   "-1",    "2", "7", "255", "65536", "2147483648", "4294967295", "9223372036854775807", "18446744073709551615",
      "1e308", "0.0", "1e-300"};
  const auto begin = std::find_if(input.begin() + static_cast<std::ptrdiff_t>(below(input.size())), input.end(), is_digit);
  const auto end = std::find_if_not(begin, input.end(), is_digit);
  const std::string_view number = kNumbers[below(kNumbers.size())];
  input.replace(begin, end, number.begin(), number.end());
}

}  // namespace warpfold::fuzz
