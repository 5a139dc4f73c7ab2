// Loaded before the program (LD_PRELOAD), makes one call of the C library fail, as WARPFOLD_FAULT says:
//
//   WARPFOLD_FAULT="write 3 ENOSPC"         the third write to a file of ours fails with ENOSPC
//   WARPFOLD_FAULT="write 3 ENOSPC ever"    so does every later one
//   WARPFOLD_FAULT="write 3 short"          the third write takes half of its bytes
//   WARPFOLD_FAULT="clock 5 -86400"         the fifth question for the time of day, and every later one, gets that of a day before
//
// Files of ours are those below the folders of WARPFOLD_FAULT_FOLDERS (a:b), those of relative paths, and standard output. The
// process whose name is in WARPFOLD_FAULT_PROGRAM is meant, none that it starts. At the end the number of calls of each kind is
// written to the file WARPFOLD_FAULT_COUNT, so that a test knows which n exist.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace {

enum Call { kOpen, kRead, kWrite, kFsync, kClose, kRename, kLink, kUnlink, kMkdir, kTruncate, kClock, kCalls };
constexpr std::array<const char*, kCalls> kNames{"open", "read",   "write", "fsync",    "close", "rename",
                                                 "link", "unlink", "mkdir", "truncate", "clock"};

struct Errno {
  const char* name;
  int value;
};
constexpr std::array kErrors{
    Errno{"ENOSPC", ENOSPC}, Errno{"EIO", EIO},     Errno{"EDQUOT", EDQUOT}, Errno{"EINTR", EINTR},
    Errno{"EACCES", EACCES}, Errno{"EROFS", EROFS}, Errno{"EMFILE", EMFILE}, Errno{"EOPNOTSUPP", EOPNOTSUPP}};

constexpr int kFiles = 1024;

struct Plan {
  bool active = false;
  std::string folders;
  int call = -1;
  long n = 0;
  int error = 0;  // 0: short
  bool ever = false;
  long seconds = 0;
  std::array<std::atomic<long>, kCalls> counts{};
  std::array<std::atomic<bool>, kFiles> ours{};
};

Plan& plan() {
  static Plan* one = new Plan;  // outlives whatever writes at the end of the program
  return *one;
}

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

__attribute__((constructor)) void read_plan() {
  Plan& now = plan();
  std::array<char, 4096> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) return;
  if (environment("WARPFOLD_FAULT_PROGRAM") != program.data()) return;
  now.folders = environment("WARPFOLD_FAULT_FOLDERS");
  const std::string fault = environment("WARPFOLD_FAULT");
  std::array<char, 16> call{};
  std::array<char, 16> error{};
  std::array<char, 8> ever{};
  if (sscanf(fault.c_str(), "%15s %ld %15s %7s", call.data(), &now.n, error.data(), ever.data()) >= 3) {
    for (int c = 0; c < kCalls; ++c) {
      if (std::string_view(call.data()) == kNames[static_cast<size_t>(c)]) now.call = c;
    }
    for (const Errno& each : kErrors) {
      if (std::string_view(error.data()) == each.name) now.error = each.value;
    }
    now.seconds = atol(error.data());
    now.ever = std::string_view(ever.data()) == "ever";
  }
  now.ours[STDOUT_FILENO] = true;
  now.active = true;
}

__attribute__((destructor)) void write_counts() {
  const std::string file = environment("WARPFOLD_FAULT_COUNT");
  if (!plan().active || file.empty()) return;
  std::string text;
  for (size_t c = 0; c < kCalls; ++c) text += std::string(kNames[c]) + " " + std::to_string(plan().counts[c]) + "\n";
  const long out = syscall(SYS_openat, AT_FDCWD, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  (void)syscall(SYS_write, out, text.data(), text.size());
  (void)syscall(SYS_close, out);
}

bool is_ours(const char* path) {
  if (!plan().active || path == nullptr) return false;
  const std::string_view name(path);
  if (!name.starts_with('/')) return true;
  std::string_view folders = plan().folders;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    if (name.starts_with(folder)) return true;
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return false;
}

bool is_ours(int file) { return plan().active && file >= 0 && file < kFiles && plan().ours[static_cast<size_t>(file)]; }

// Counts the call of a file of ours; returns whether it is the call that fails.
bool strikes(Call call) {
  Plan& now = plan();
  const long n = ++now.counts[call];
  return now.call == call && (n == now.n || (now.ever && n > now.n));
}

int fails() {
  errno = plan().error;
  return -1;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int note(int file) {
  if (file >= 0 && file < kFiles) plan().ours[static_cast<size_t>(file)] = true;
  return file;
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  if (is_ours(path)) {
    if (strikes(kOpen)) return fails();
    return note(static_cast<int>(syscall(SYS_openat, folder, path, flags, mode)));
  }
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

// A struct timespec of the time of day, put forward or back where the plan says so.
void shift(time_t& seconds) {
  if (plan().active && ++plan().counts[kClock] >= plan().n && plan().call == kClock) seconds += plan().seconds;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_at(AT_FDCWD, path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (is_ours(path) && strikes(kOpen)) {
    (void)fails();
    return nullptr;
  }
  FILE* file = next<FILE*(const char*, const char*)>("fopen64")(path, mode);
  if (file != nullptr && is_ours(path)) note(fileno(file));
  return file;
}
FILE* fopen(const char* path, const char* mode) { return fopen64(path, mode); }

ssize_t read(int file, void* bytes, size_t size) {
  if (is_ours(file) && strikes(kRead)) {
    if (plan().error != 0) return fails();
    size = (size + 1) / 2;
  }
  return syscall(SYS_read, file, bytes, size);
}
ssize_t write(int file, const void* bytes, size_t size) {
  if (is_ours(file) && strikes(kWrite)) {
    if (plan().error != 0) return fails();
    size = (size + 1) / 2;
  }
  return syscall(SYS_write, file, bytes, size);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  if (is_ours(file) && strikes(kWrite)) {
    if (plan().error != 0) return fails();
    return syscall(SYS_write, file, parts[0].iov_base, (parts[0].iov_len + 1) / 2);
  }
  return syscall(SYS_writev, file, parts, count);
}
int fsync(int file) { return is_ours(file) && strikes(kFsync) ? fails() : static_cast<int>(syscall(SYS_fsync, file)); }
int ftruncate(int file, off_t size) {
  return is_ours(file) && strikes(kTruncate) ? fails() : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
// The file is closed all the same, as the kernel does.
int close(int file) {
  const bool ours = is_ours(file);
  if (ours && file != STDOUT_FILENO) plan().ours[static_cast<size_t>(file)] = false;
  const auto closed = static_cast<int>(syscall(SYS_close, file));
  return ours && strikes(kClose) ? fails() : closed;
}
int fclose(FILE* file) {
  const int number = fileno(file);
  const bool ours = is_ours(number);
  if (ours) plan().ours[static_cast<size_t>(number)] = false;
  const int closed = next<int(FILE*)>("fclose")(file);
  return ours && strikes(kClose) ? fails() : closed;
}
int rename(const char* from, const char* to) {
  return is_ours(to) && strikes(kRename) ? fails() : static_cast<int>(syscall(SYS_rename, from, to));
}
int link(const char* from, const char* to) {
  return is_ours(to) && strikes(kLink) ? fails() : static_cast<int>(syscall(SYS_link, from, to));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (is_ours(to) && strikes(kLink)) return fails();
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int unlink(const char* path) { return is_ours(path) && strikes(kUnlink) ? fails() : static_cast<int>(syscall(SYS_unlink, path)); }
int mkdir(const char* path, mode_t mode) {
  return is_ours(path) && strikes(kMkdir) ? fails() : static_cast<int>(syscall(SYS_mkdir, path, mode));
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const auto said = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) shift(time->tv_sec);
  return said;
}
int gettimeofday(struct timeval* time, void* zone) {
  const auto said = static_cast<int>(syscall(SYS_gettimeofday, time, zone));
  shift(time->tv_sec);
  return said;
}
time_t time(time_t* seconds) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
