#include "configs/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "configs/escape/quoted.h"

namespace warpfold {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kNewFile = 0666;  // less the umask

// Names of files under way, where a handler of a signal finds them. Text of fixed size, which it may read; a name beyond these is
// not removed by a signal.
struct Slot {
  enum State : int { kFree, kFilling, kNamed };
  std::atomic<int> state{kFree};
  std::array<char, PATH_MAX> name{};
};

std::array<Slot, 16>& slots() {
  static std::array<Slot, 16> all;
  return all;
}

int enter(const std::string& name) {
  for (size_t i = 0; i < slots().size() && name.size() < PATH_MAX; ++i) {
    Slot& slot = slots()[i];
    int free = Slot::kFree;
    if (!slot.state.compare_exchange_strong(free, Slot::kFilling)) continue;
    std::ranges::copy(name, slot.name.begin());
    slot.name[name.size()] = '\0';
    slot.state = Slot::kNamed;
    return static_cast<int>(i);
  }
  return -1;
}

void leave(int slot) {
  if (slot >= 0) slots()[static_cast<size_t>(slot)].state = Slot::kFree;
}

std::string own_link(int file) { return "/proc/self/fd/" + std::to_string(file); }

// A name that no other thread, process or machine gives; where it is taken, the next one.
fs::path next_name(const fs::path& folder) {
  static std::atomic<uint64_t> count{0};
  return folder / ("warpfold-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".tmp");
}

}  // namespace

std::optional<fs::path> file_behind(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return std::nullopt;
  fs::path file(path);
  constexpr int kMostLinks = 40;  // as the kernel has it
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(file, error)); ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  file = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? fs::path(path) : file;  // links in a circle lead nowhere
}

int open_file(const char* path, int flags, unsigned mode) {
  int file = -1;
  do {
    file = open(path, flags | O_CLOEXEC, mode);
  } while (file < 0 && errno == EINTR);
  return file;
}

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

FileWriter::FileWriter(const std::string& path, Sync sync) : path_(path), sync_(sync) {
  std::error_code unknown;  // of a path that cannot be inspected, opening says why
  if (fs::is_directory(path, unknown)) {
    why_ = "it is a directory";
    return;
  }
  const auto behind = file_behind(path);
  in_place_ = !behind;
  target_ = behind.value_or(path).string();
  if (in_place_) {
    file_ = open_file(target_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kNewFile);
    check(file_ < 0 ? errno : 0);
  } else {
    open_beside();
  }
}

FileWriter::~FileWriter() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  leave(slot_);
}

void FileWriter::check(int error) {
  if (error != 0 && why_.empty()) why_ = std::strerror(error);
}

void FileWriter::open_beside() {
  const fs::path folder = fs::path(target_).parent_path();
  const bool can_get_name = access("/proc/self/fd", X_OK) == 0;
  if (can_get_name) file_ = open_file(folder.c_str(), O_TMPFILE | O_WRONLY, kNewFile);
  while (file_ < 0) {
    temporary_ = next_name(folder);
    slot_ = enter(temporary_.string());
    file_ = open_file(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL, kNewFile);
    if (file_ >= 0) return;
    const int error = errno;
    leave(slot_);
    slot_ = -1;
    temporary_.clear();
    if (error != EEXIST) return check(error);
  }
}

void FileWriter::write(std::string_view text) {
  constexpr size_t kPiece = size_t{1} << 18U;
  buffer_ += text;
  if (buffer_.size() >= kPiece) flush();
}

void FileWriter::flush() {
  if (!failed()) check(write_all(file_, buffer_));
  buffer_.clear();
}

// That of the file that it replaces.
void FileWriter::set_mode() const {
  struct stat old{};
  if (stat(target_.c_str(), &old) == 0) (void)fchmod(file_, old.st_mode & 07777U);
}

void FileWriter::sync() {
  int error = 0;
  do {
    error = fsync(file_) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error != EINVAL) check(error);  // a file system without it
}

void FileWriter::give_name() {
  const std::string link = own_link(file_);
  while (!failed() && temporary_.empty()) {
    const fs::path name = next_name(fs::path(target_).parent_path());
    slot_ = enter(name.string());
    if (linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    const int error = errno;
    leave(slot_);
    slot_ = -1;
    if (error != EEXIST) check(error);
  }
}

// Some file systems say here that a quota was exceeded. Interrupted, it has closed the file all the same.
void FileWriter::close() {
  if (file_ >= 0 && ::close(file_) != 0 && errno != EINTR) check(errno);
  file_ = -1;
}

Expected<void> FileWriter::commit() {
  flush();
  if (!failed() && !in_place_) {
    set_mode();
    if (sync_ == Sync::kYes) sync();
    give_name();
  }
  close();
  if (!failed() && !in_place_) {
    check(std::rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno);
    if (!failed()) temporary_.clear();
  }
  if (failed()) return fail("cannot write " + escape::quoted_path(path_) + ": " + why_);
  return {};
}

Expected<void> write_file(const std::string& path, std::string_view text, FileWriter::Sync sync) {
  FileWriter file(path, sync);
  file.write(text);
  return file.commit();
}

void remove_unfinished_files() {
  for (Slot& slot : slots()) {
    if (slot.state == Slot::kNamed) unlink(slot.name.data());
  }
}

}  // namespace warpfold
