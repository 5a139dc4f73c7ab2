#include "traces/import/listed_constants.h"

#include <charconv>
#include <optional>

namespace warpfold::sass {
namespace {

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace

void ConstantReader::put(uint32_t at, uint32_t byte, ListedConstants& constants) {
  const uint32_t shift = 8 * (at % 4);
  uint32_t& word = constants[at / 4 * 4];
  word = (word & ~(0xffU << shift)) | (byte & 0xff) << shift;
}

void ConstantReader::read(std::string_view line, ListedConstants& constants) {
  if (line.starts_with("/*")) {
    const auto offset = number(line.substr(2), 16);
    if (!offset || *offset >= kBankBytes) return;
    next_ = static_cast<uint32_t>(*offset);
  }
  if (const size_t zeros = line.find(".zero"); zeros != std::string_view::npos) {
    const std::string_view rest = line.substr(zeros + 5);
    const auto bytes = number(rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size())), 10);
    for (uint64_t i = 0; bytes && i < *bytes && next_ < kBankBytes; ++i) put(bank_ * kBankBytes + next_++, 0, constants);
    return;
  }
  uint32_t width = 0;
  size_t at = std::string_view::npos;
  for (const auto& [name, bytes] : {std::pair{".byte", 1U}, std::pair{".short", 2U}, std::pair{".word", 4U}}) {
    if (at != std::string_view::npos) break;
    at = line.find(name);
    width = bytes;
  }
  if (at == std::string_view::npos) return;
  line.remove_prefix(at);
  for (size_t from = line.find("0x"); from != std::string_view::npos; from = line.find("0x")) {
    line.remove_prefix(from + 2);
    const auto value = number(line, 16);
    for (uint32_t i = 0; value && i < width && next_ < kBankBytes; ++i)
      put(bank_ * kBankBytes + next_++, static_cast<uint32_t>(*value >> 8 * i), constants);
  }
}

}  // namespace warpfold::sass
