#include "configs/search_path.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".textproto";
constexpr std::string_view kBelow = "configs/";

fs::path& own_folder() {
  static fs::path folder;
  return folder;
}

bool holds_configs(const fs::path& folder) {
  std::error_code missing;
  return fs::is_directory(folder / "gpus", missing);
}

// Where the program lies: PREFIX/bin, or build/PRESET of a source tree.
std::optional<fs::path> beside_program() {
  std::error_code unknown;
  fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown) {                                                               // no /proc, as in a bare root
    const auto* called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT: the kernel's own interface
    if (called == nullptr) return std::nullopt;
    program = fs::absolute(called, unknown);
  }
  const fs::path folder = program.parent_path();
  for (const fs::path& candidate :
       {folder.parent_path() / "share" / "warpfold" / "configs", folder.parent_path().parent_path() / "configs"}) {
    if (holds_configs(candidate)) return candidate;
  }
  return std::nullopt;
}

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

// The folder of a kind, and the folders below it in the order of their paths.
std::vector<fs::path> folders_of(const fs::path& folder) {
  std::vector<fs::path> folders{folder};
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, missing)) {
    if (entry.is_directory(missing)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

std::string kind_in_words(std::string_view kind) {
  if (kind == "gpus") return "GPU";
  if (kind == "studies") return "study";
  return std::string(kind.substr(0, kind.size() - 1));
}

}  // namespace

void set_config_folder(const fs::path& folder) { own_folder() = folder; }

std::vector<fs::path> config_folders() {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("WARPFOLD_PATH"); given != nullptr) {
    const std::string_view list = given;
    for (size_t at = 0; at <= list.size();) {
      const size_t colon = std::min(list.find(':', at), list.size());
      if (colon > at) folders.emplace_back(list.substr(at, colon - at));
      at = colon + 1;
    }
  }
  std::error_code missing;
  if (fs::is_directory("configs", missing)) folders.emplace_back("configs");
  if (!own_folder().empty()) {
    folders.push_back(own_folder());
  } else if (const auto own = beside_program()) {
    folders.push_back(*own);
  }
  return folders;
}

bool is_config_name(const std::string& named) { return !named.empty() && named.find_first_of("./") == std::string::npos; }

Expected<std::string> find_config(const std::string& named, std::string_view kind) {
  std::error_code missing;
  if (fs::is_regular_file(named, missing)) return named;
  const auto in_folders = [&](const fs::path& below) -> std::optional<std::string> {
    for (const fs::path& folder : config_folders()) {
      if (const fs::path file = folder / below; fs::is_regular_file(file, missing)) return file.string();
    }
    return std::nullopt;
  };
  if (named.starts_with(kBelow)) return in_folders(named.substr(kBelow.size())).value_or(named);
  if (!is_config_name(named)) return named;
  const std::string stem = with_underscores(named);
  std::vector<std::string> known;
  for (const fs::path& file : config_files(kind)) {
    known.push_back(file.stem().string());
    if (known.back() == stem) return file.string();
  }
  return fail("there is neither a file " + escape::quoted(named) + " nor a " + kind_in_words(kind) + " of that name" +
              suggestion(stem, known));
}

Expected<std::string> find_beside(const fs::path& folder, const std::string& named, std::string_view kind) {
  std::error_code missing;
  const fs::path beside = folder / named;
  if (!is_config_name(named) || fs::is_regular_file(beside, missing)) return beside.string();
  return find_config(named, kind);
}

std::vector<fs::path> config_files(std::string_view kind) {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : config_folders()) {
    for (const fs::path& below : folders_of(folder / kind)) {
      std::error_code missing;
      for (const fs::directory_entry& entry : fs::directory_iterator(below, missing)) {
        if (entry.path().extension() == kEnding) by_name.emplace(entry.path().stem().string(), entry.path());
      }
    }
  }
  std::vector<fs::path> files;
  for (const auto& [name, file] : by_name) files.push_back(file);
  return files;
}

}  // namespace warpfold::configs
