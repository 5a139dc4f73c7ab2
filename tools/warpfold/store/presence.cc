#include "tools/warpfold/store/presence.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/write_file.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

namespace fs = std::filesystem;

namespace {

std::string first_word(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Returns the start time of a process of this machine, in clock ticks since boot: the 22nd field of stat(5). Empty if the process
// does not exist. The second field, the program's name in parentheses, may contain spaces.
std::string start_of(const std::string& process) {
  if (process != "self" && (process.empty() || process.find_first_not_of("0123456789") != std::string::npos)) return "";
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int kFieldsBehindName = 20;
  std::string field;
  for (int i = 0; i < kFieldsBehindName; ++i) fields >> field;
  return field;
}

// Process ids mean the same process in the same boot and the same namespace.
std::string machine() {
  std::error_code error;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string();
  return first_word("/proc/sys/kernel/random/boot_id") + space;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Fields of a presence file, one "NAME VALUE" per line.
using Fields = std::map<std::string, std::string>;

Fields own_fields() {
  Fields fields{{"machine", machine()}, {"process", std::to_string(getpid())}, {"start", start_of("self")}};
  if (const std::string job = environment("SLURM_JOB_ID"); !job.empty()) {
    const std::string array = environment("SLURM_ARRAY_JOB_ID");
    fields["task"] = (array.empty() ? job : array + "_" + environment("SLURM_ARRAY_TASK_ID")) + "." + environment("SLURM_PROCID");
    const std::string restarts = environment("SLURM_RESTART_COUNT");
    fields["restarts"] = restarts.empty() ? "0" : restarts;
  }
  return fields;
}

Fields read_fields(const fs::path& path) {
  std::ifstream file(path);
  Fields fields;
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) fields[line.substr(0, space)] = line.substr(space + 1);
  }
  return fields;
}

std::string field(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

// Returns the number of restarts; 0 if the field is not a number.
uint64_t restarts_of(const Fields& fields) {
  const std::string text = field(fields, "restarts");
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

// Sets the file's time to the clock of the file server.
void touch(const fs::path& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace

Outcome<std::unique_ptr<Presence>> Presence::announce(const std::string& folder) {
  if (auto made = make_folder(folder); !made) return std::unexpected(made.error());
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const Fields fields = own_fields();
  static std::atomic<unsigned> count{0};  // a process may work in several folders, one after the other
  const std::string name = std::string(host.data()) + "-" + field(fields, "process") + "-" + field(fields, "start") + "-" +
                           first_word("/proc/sys/kernel/random/boot_id").substr(0, 8) + "-" + std::to_string(count++);
  std::unique_ptr<Presence> presence(new Presence(folder, name));
  std::string text;
  for (const auto& [key, value] : fields) text += key + " " + value + "\n";
  const auto written = write_file((presence->folder_ / name).string(), text, FileWriter::Sync::kNo);
  if (!written) return cannot_write(written.error().text());
  presence->forget_killed(host.data());
  return presence;
}

Presence::Presence(fs::path folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {
  heart_ = std::jthread([path = folder_ / name_](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    while (!wake.wait_for(lock, stop, kTouched, [&] { return stop.stop_requested(); })) touch(path);
  });
}

Presence::~Presence() { withdraw(); }

void Presence::forget(const std::string& name) const {
  if (!name.empty()) unlink((folder_ / name).c_str());
}

void Presence::forget_killed(const std::string& host) const {
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(host + "-") && !alive(name)) forget(name);
  }
}

void Presence::withdraw() const { unlink((folder_ / name_).c_str()); }

bool Presence::alive(const std::string& name) const {
  if (name == name_) return true;
  if (name.empty()) return false;
  const fs::path path = folder_ / name;
  const Fields other = read_fields(path);  // opening the file makes an NFS client ask the server for the file's time
  const Fields own = own_fields();
  if (other.empty()) return false;
  if (field(other, "machine") == field(own, "machine")) return start_of(field(other, "process")) == field(other, "start");
  if (!field(own, "task").empty() && field(own, "task") == field(other, "task") && restarts_of(own) > restarts_of(other)) {
    return false;
  }
  touch(folder_ / name_);
  struct stat theirs{};
  struct stat ours{};
  if (stat(path.c_str(), &theirs) != 0 || stat((folder_ / name_).c_str(), &ours) != 0) return false;
  return ours.st_mtime - theirs.st_mtime < kSilence.count();
}

size_t Presence::count() const {
  std::error_code error;
  size_t files = 0;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) ++files;
  return std::max<size_t>(files, 1);
}

}  // namespace warpfold::cli
