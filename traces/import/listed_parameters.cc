#include "traces/import/listed_parameters.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace warpfold::sass {
namespace {

constexpr uint32_t kSizeFromBit = 18;

// Reads "0x04, 0x17" as a little-endian number made of words of `width` bytes. Returns -1 for other text.
int64_t number_of(std::string_view words, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64; shift += 8 * width) {
    const size_t from = words.find("0x");
    if (from == std::string_view::npos) return shift == 0 ? -1 : static_cast<int64_t>(value & 0xffffffff);
    words.remove_prefix(from + 2);
    uint32_t word = 0;
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), word, 16);
    if (error != std::errc{}) return -1;
    value |= uint64_t{word} << shift;
    words.remove_prefix(static_cast<size_t>(end - words.data()));
  }
  return -1;
}

}  // namespace

bool ParameterReader::read(std::string_view line, ListedParameter& parameter) {
  constexpr int64_t kParameterInfo = 0x1704;
  struct Directive {
    std::string_view name;
    uint32_t width;
  };
  constexpr std::array<Directive, 6> kSteps{
      {{".byte", 1}, {".short", 2}, {".word", 4}, {".short", 2}, {".short", 2}, {".byte", 1}}};
  if (!line.starts_with("/*")) return false;  // skips labels and alignment
  const Directive& wanted = kSteps[static_cast<size_t>(step_)];
  const size_t at = line.find(wanted.name);
  const int64_t value = at == std::string_view::npos ? -1 : number_of(line.substr(at), wanted.width);
  const bool size = step_ == 1 && at != std::string_view::npos;  // an expression of labels
  if ((value < 0 && !size) || (step_ == 0 && value != kParameterInfo)) {
    step_ = 0;
    return false;
  }
  if (step_ == 4) open_.offset = static_cast<uint32_t>(value);
  if (step_ == 5) open_.bytes = static_cast<uint32_t>(value) >> kSizeFromBit;
  step_ = (step_ + 1) % static_cast<int>(kSteps.size());
  if (step_ != 0 || open_.bytes == 0) return false;
  parameter = open_;
  return true;
}

void add_parameter(std::vector<ListedParameter>& parameters, const ListedParameter& parameter) {
  const auto at = std::ranges::lower_bound(parameters, parameter.offset, {}, &ListedParameter::offset);
  if (at == parameters.end() || at->offset != parameter.offset) parameters.insert(at, parameter);
}

}  // namespace warpfold::sass
