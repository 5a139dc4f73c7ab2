#include "traces/import/text_form.h"

#include <algorithm>
#include <array>

namespace warpfold::sass {
namespace {

constexpr size_t kSample = 4096;

// True if every other byte is zero, as in ASCII text in UTF-16, with or without a byte order mark.
bool is_utf16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  const std::string_view sample = text.substr(0, kSample);
  std::array<size_t, 2> zeros{};
  for (size_t i = 0; i < sample.size(); ++i) zeros[i % 2] += sample[i] == '\0' ? 1 : 0;
  const size_t half = sample.size() / 2;
  return half > 1 && (zeros[0] == 0 || zeros[1] == 0) && std::max(zeros[0], zeros[1]) + half / 8 >= half;
}

}  // namespace

Expected<void> check_text_form(const std::string& file, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail_at(file, 1, 1, "the file is empty; expected the text of cuobjdump -sass or nvdisasm");
  }
  if (text.starts_with("\x7f"
                       "ELF")) {
    return fail_at(file, 1, 1, "this is a binary, no listing; disassemble it: cuobjdump -sass FILE, or nvdisasm -c -hex FILE");
  }
  if (text.find("__global__ ") != std::string_view::npos && text.find(';') != std::string_view::npos &&
      text.find(".text.") == std::string_view::npos && text.find("Function :") == std::string_view::npos) {
    return fail_at(
        file, 1, 1,
        "this is CUDA source, no listing; compile and disassemble it: nvcc -cubin -arch=sm_80 FILE, then cuobjdump -sass");
  }
  if (is_utf16(text)) {
    return fail_at(file, 1, 1, "the text is UTF-16, which a redirection in PowerShell writes; save it as UTF-8");
  }
  if (text.substr(0, kSample).find('\0') != std::string_view::npos) {
    return fail_at(file, 1, 1, "this is a binary, no listing; expected the text of cuobjdump -sass or nvdisasm");
  }
  return {};
}

}  // namespace warpfold::sass
