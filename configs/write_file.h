#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold {

// The file that writing to `path` would replace or create, links followed; nothing where `path` is a device or a pipe, which
// is written to as it is.
std::optional<std::filesystem::path> file_behind(const std::string& path);

// open(2), again where a signal was in the way; the file is closed in programs that this one starts.
int open_file(const char* path, int flags, unsigned mode = 0);

// Writes all of it, however much the kernel takes at a time. Returns 0 or errno.
int write_all(int file, std::string_view text);

// A file that appears under its name when it is whole, in place of the one that was there: until commit() has succeeded, that one
// stays as it was, whatever happens. Where the file system can, the new one has no name before, so that a process that is killed
// leaves none behind; elsewhere it is called warpfold-PROCESS-COUNT.tmp for as long as it is written.
class FileWriter {
 public:
  // kYes: commit() waits until the disk has the bytes, so that a loss of power leaves the old file or the new one. kNo: for records
  // that are checked when they are read.
  enum class Sync { kYes, kNo };

  explicit FileWriter(const std::string& path, Sync sync = Sync::kYes);
  ~FileWriter();  // without commit(): nothing has happened
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // commit() says whether it went well.
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
  int slot_ = -1;                      // of `temporary_` among the names to remove
  std::string why_{};                  // it failed
};

Expected<void> write_file(const std::string& path, std::string_view text, FileWriter::Sync sync = FileWriter::Sync::kYes);

// Removes the files that this process is writing and that have a name. For handlers of signals that end it: calls what they may
// call.
void remove_unfinished_files();

}  // namespace warpfold
