#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"
#include "configs/read_file.h"
#include "configs/search_path.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr std::array<std::string_view, 5> kKinds{"scenarios", "gpus", "models", "studies", "kernels"};

// Returns the first sentence of the comment at the top of the file.
Outcome<std::string> about(const std::filesystem::path& path) {
  const auto whole = read_file(path.string());
  if (!whole) return std::unexpected(Failure(whole.error()));
  std::istringstream file(*whole);
  std::string text;
  for (std::string line; std::getline(file, line) && line.starts_with("# ");) {
    text.append(text.empty() ? "" : " ").append(line, 2);
    if (const size_t end = text.find_first_of(".:"); end != std::string::npos && (end + 1 == text.size() || text[end + 1] == ' ')) {
      text.resize(end);
      break;
    }
  }
  constexpr size_t kMost = 90;
  return escape::visible(text, kMost);
}

// Returns the folder of configurations that has the file: "configs" of configs/kernels/operators/rms_norm.textproto.
std::filesystem::path folder_of(const std::filesystem::path& file, const std::string& kind) {
  std::filesystem::path folder = file.parent_path();
  while (folder.has_filename() && folder.filename() != kind) folder = folder.parent_path();
  return folder.parent_path();
}

}  // namespace

Outcome<void> list_command(const Invocation& invocation) {
  Options options(
      "warpfold list [KIND] [options]",
      "Lists files that are installed, or lie in the folders of WARPFOLD_PATH or in configs below the current one. KIND is\n"
      "scenarios, gpus, models, studies or kernels; default: all. Commands take these names in place of files.",
      "  warpfold list\n  warpfold list scenarios\n  WARPFOLD_PATH=~/machines warpfold list gpus --format csv\n");
  options.positional("KIND", 0, 1);
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const Destination& destination = options.destination();
  std::vector<std::string> kinds(kKinds.begin(), kKinds.end());
  if (!options.arguments().empty()) {
    const std::string& kind = options.arguments().front();
    if (std::ranges::find(kinds, kind) == kinds.end())
      return user_error("list: unknown kind " + escape::quoted(kind) + suggestion(kind, kinds));
    kinds = {kind};
  }
  Table table({"kind", "name", "about", "folder"});
  for (const std::string& kind : kinds) {
    for (const std::filesystem::path& file : configs::config_files(kind)) {
      const auto sentence = about(file);
      if (!sentence) return std::unexpected(sentence.error());
      table.add({kind, file.stem().string(), *sentence, escape::visible(folder_of(file, kind).string())});
    }
  }
  return write_output(destination.path, table.render(destination.format));
}

}  // namespace warpfold::cli
