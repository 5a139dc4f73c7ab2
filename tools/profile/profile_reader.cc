#include "tools/profile/profile_reader.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "tools/profile/kineto_reader.h"
#include "tools/profile/nsight_reader.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::profile {
namespace {

constexpr size_t kMostTable = size_t{256} << 20;
constexpr std::string_view kDatabase = "SQLite format 3";

bool is_database(const std::string& path) {
  std::array<char, kDatabase.size()> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == kDatabase;
}

bool is_json(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos || text[begin] == '{' || text[begin] == '[';
}

}  // namespace

Expected<Profile> read_profile(const std::string& path) {
  if (is_database(path)) return read_nsight_database(path);
  auto source = traces::accelsim::open_source(path);
  if (!source) return std::unexpected(source.error());
  std::string text;
  std::vector<char> piece(size_t{1} << 16);
  bool begins = true;
  while (true) {
    const auto got = (*source)->read(std::span(piece));
    if (!got) return std::unexpected(got.error());
    if (begins && is_json({piece.data(), *got})) return read_kineto(path);
    begins = false;
    if (*got == 0) break;
    text.append(piece.data(), *got);
    if (text.size() > kMostTable)
      return fail_at(path, 0, 0, "a table of more than 256 MB; export as SQLite: nsys export --type sqlite");
  }
  if (is_nsight_table(text)) return read_nsight_table(path, text);
  return fail_at(
      path, 0, 0,
      "no profile that is known: expected a trace of torch.profiler (JSON), nsys export --type sqlite, nsys stats --report "
      "cuda_gpu_trace --format csv, or ncu --csv --page raw");
}

}  // namespace warpfold::profile
