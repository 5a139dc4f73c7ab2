#include "tools/warpfold/store/point_log.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/write_file.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kExtension = ".points";
constexpr size_t kHash = 16;  // digits of a checksum and of a key

std::string to_line(const std::string& key, uint64_t milliseconds, const google::protobuf::Message& point) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  (void)google::protobuf::util::MessageToJsonString(point, &json, options);
  const std::string text = key + " " + std::to_string(milliseconds) + " " + json;
  return content_hash(text) + " " + text + "\n";
}

}  // namespace

Outcome<void> PointLog::open() {
  if (auto made = make_folder(folder_.string()); !made) return made;
  refresh();
  return {};
}

void PointLog::refresh() {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kExtension) read_on(entry->path().filename().string());
  }
}

// Reads on behind the last line whose checksum holds. Lines behind a broken line are read again next time, since a file server may
// not have had all of the broken line yet.
void PointLog::read_on(const std::string& file) {
  std::ifstream stream(folder_ / file, std::ios::binary);
  uint64_t& held = read_[file];
  stream.seekg(static_cast<std::streamoff>(held));
  uint64_t offset = held;
  bool all_hold = true;
  for (std::string line; std::getline(stream, line) && !stream.eof(); offset += line.size() + 1) {
    all_hold = take(file, offset, line) && all_hold;
    if (all_hold) held = offset + line.size() + 1;
  }
}

bool PointLog::take(const std::string& file, uint64_t offset, const std::string& line) {
  constexpr size_t kNumber = 2 * (kHash + 1);
  if (line.size() <= kNumber || line.substr(0, kHash) != content_hash(line.substr(kHash + 1))) return false;
  const size_t blank = line.find(' ', kNumber);
  if (blank == std::string::npos) return false;
  points_.insert_or_assign(line.substr(kHash + 1, kHash), Place{file, offset + blank + 1, line.size() - blank - 1});
  return true;
}

bool PointLog::has(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return points_.contains(key);
}

bool PointLog::find(const std::string& key, google::protobuf::Message& point) const {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    const auto found = points_.find(key);
    if (found == points_.end()) return false;
    place = found->second;
  }
  std::string json(place.length, '\0');
  std::ifstream stream(folder_ / place.file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(place.offset));
  return stream.read(json.data(), static_cast<std::streamsize>(json.size())) &&
         google::protobuf::util::JsonStringToMessage(json, &point).ok();
}

// Opens this process's log, HOST-PROCESS-COUNT.points. O_EXCL gives processes of equal names, on machines of equal names, different
// logs. Returns a negative number if the log cannot be opened.
int PointLog::open_own() {
  const int flags = O_WRONLY | O_APPEND | O_CREAT;
  if (!own_.empty()) return open_file((folder_ / own_).c_str(), flags, 0666);
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string name = std::string(host.data()) + "-" + std::to_string(getpid()) + "-";
  for (int count = 0;; ++count) {
    const std::string file = name + std::to_string(count) + std::string(kExtension);
    const int log = open_file((folder_ / file).c_str(), flags | O_EXCL, 0666);
    if (log < 0 && errno == EEXIST) continue;
    if (log >= 0) own_ = file;
    return log;
  }
}

// Closes the file after each line, because an NFS client sends the data to the server at the close. A line that cannot be written
// completely is removed, so that the next line starts at a line's beginning.
Outcome<void> PointLog::append(const std::string& key, uint64_t milliseconds, const google::protobuf::Message& point) {
  const std::string line = to_line(key, milliseconds, point);
  const std::lock_guard lock(mutex_);
  const int log = open_own();
  int error = log < 0 ? errno : 0;
  if (log >= 0) {
    const off_t end = lseek(log, 0, SEEK_END);
    error = write_all(log, line);
    if (error != 0) (void)!ftruncate(log, end);
    if (close(log) != 0 && error == 0 && errno != EINTR) error = errno;
  }
  if (error != 0)
    return cannot_write("cannot write " + escape::quoted_path((folder_ / own_).string()) + ": " + std::strerror(error));
  read_on(own_);
  return {};
}

}  // namespace warpfold::cli
