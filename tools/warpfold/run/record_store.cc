#include "tools/warpfold/run/record_store.h"

#include <dlfcn.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "configs/escape/quoted.h"
#include "configs/read_file.h"
#include "configs/write_file.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

namespace fs = std::filesystem;

Outcome<void> RecordStore::open() const { return make_folder(folder_); }

// Returns the file of a record. Names may contain any characters, such as field paths with indices; the hash distinguishes names
// that become equal by the replacement.
std::string RecordStore::path(const std::string& name) const {
  constexpr size_t kReadable = 120;
  std::string readable = name.substr(0, kReadable);
  std::ranges::replace_if(
      readable, [](unsigned char c) { return std::isalnum(c) == 0 && c != '=' && c != ',' && c != '.' && c != '-'; }, '_');
  return (fs::path(folder_) / (readable + "-" + content_hash(name).substr(0, 8) + ".record")).string();
}

bool RecordStore::find(const std::string& name, google::protobuf::Message& record) const {
  const auto text = read_file(path(name));
  if (!text || !text->contains('\n')) return false;
  const size_t json = text->find('\n') + 1;
  return text->substr(0, json - 1) == content_hash(text->substr(json)) &&
         google::protobuf::util::JsonStringToMessage(text->substr(json), &record).ok();
}

Outcome<void> RecordStore::save(const std::string& name, const google::protobuf::Message& record) const {
  const std::string json = to_json(record);
  const auto written = write_file(path(name), content_hash(json) + "\n" + json, FileWriter::Sync::kNo);
  return written ? Outcome<void>() : cannot_write(written.error().text());
}

// In a Python package, this code is in an extension module, not in the program that loaded it.
std::string program_hash() {
  Dl_info here{};
  std::string file = "/proc/self/exe";
  if (dladdr(reinterpret_cast<const void*>(&program_hash), &here) != 0 && std::string_view(here.dli_fname).contains(".so"))
    file = here.dli_fname;
  const auto program = read_file(file);
  return program ? content_hash(*program) : WARPFOLD_VERSION;
}

}  // namespace warpfold::cli
