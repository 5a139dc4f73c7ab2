#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold {

// Returns the file that writing to `path` would replace or create, with links followed. Nothing if `path` is a device
// or a pipe, which is written in place.
std::optional<std::filesystem::path> file_behind(const std::string& path);

// Calls open(2), again after an interruption by a signal. The file is closed in programs that this program starts.
int open_file(const char* path, int flags, unsigned mode = 0);

// Writes the whole text, in as many parts as the kernel takes. Returns 0 or errno.
int write_all(int file, std::string_view text);

// A file that appears under its name when it is whole. Until commit() has succeeded, an older file of that name stays
// unchanged in every case. If the file system supports it, the new file has no name before, so a killed process leaves
// no file behind. Otherwise its name is warpfold-PROCESS-COUNT.tmp until commit().
class FileWriter {
 public:
  // kYes: commit() waits until the disk has the bytes, so a loss of power leaves the old file or the new file. kNo: for
  // records that are checked when they are read.
  enum class Sync { kYes, kNo };

  explicit FileWriter(const std::string& path, Sync sync = Sync::kYes);
  ~FileWriter();  // without commit(), the old file stays
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // commit() reports a failure.
  void write(std::string_view text);
  // The diagnostic names the path in its message.
  Expected<void> commit();

 private:
  void open_beside();
  void flush();
  void set_mode() const;
  void sync();
  void give_name();
  void close();
  bool failed() const { return !why_.empty(); }
  void check(int error);  // 0: all is well

  std::string path_;
  std::string target_;  // behind links
  Sync sync_;
  std::string buffer_{};
  bool in_place_ = false;  // a device or a pipe
  int file_ = -1;
  std::filesystem::path temporary_{};  // empty: the file has no name
  int slot_ = -1;                      // index of `temporary_` among the names to remove
  std::string why_{};                  // reason of the failure; empty: none
};

Expected<void> write_file(const std::string& path, std::string_view text, FileWriter::Sync sync = FileWriter::Sync::kYes);

// Removes the files that this process is writing and that have a name. Async-signal-safe, for handlers of signals that
// end the process.
void remove_unfinished_files();

}  // namespace warpfold
