#include "tools/profile/nsight_names.h"

#include <re2/re2.h>

#include <charconv>

namespace warpfold::profile {
namespace {

constexpr size_t kMostLists = 64;
constexpr size_t kMostNumbers = 16;

}  // namespace

std::vector<std::vector<uint64_t>> lists_of(std::string_view text) {
  std::vector<std::vector<uint64_t>> lists;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' && ++depth == 2 && lists.size() < kMostLists) lists.emplace_back();
    if (text[i] == ']' && --depth == 0) break;
    if (depth != 2 || text[i] < '0' || text[i] > '9') continue;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error == std::errc{} && lists.back().size() < kMostNumbers) lists.back().push_back(number);
    i = static_cast<size_t>(end - text.data()) - 1;
  }
  return lists;
}

std::string as_demangled(std::string name) {
  static const RE2 yes(R"(\(bool\)1)");
  static const RE2 no(R"(\(bool\)0)");
  static const RE2 number(R"(\((?:unsigned |signed )?(?:char|short|int|long|long long)\)(-?\d))");
  static const RE2 pointer(R"( ([*&]))");
  RE2::GlobalReplace(&name, yes, "true");
  RE2::GlobalReplace(&name, no, "false");
  RE2::GlobalReplace(&name, number, R"(\1)");
  RE2::GlobalReplace(&name, pointer, R"(\1)");
  return name;
}

}  // namespace warpfold::profile
