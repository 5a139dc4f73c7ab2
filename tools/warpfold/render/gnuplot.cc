#include "tools/warpfold/render/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "configs/write_file.h"
#include "tools/warpfold/render/open_file.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

namespace {

// Removes the script's `set output`, so that it draws to standard output.
std::string to_standard_output(const std::string& script) {
  const size_t line = script.starts_with("set output ") ? 0 : script.find("\nset output ");
  if (line == std::string::npos) return script;
  return script.substr(0, line) + script.substr(std::min(script.find('\n', line + 1), script.size()));
}

}  // namespace

Outcome<bool> draw(const std::string& folder, const std::string& script, const std::string& picture) {
  const auto cannot = [](int error) { return user_error(std::string("cannot run gnuplot: ") + std::strerror(error)); };
  const OpenFile in(memfd_create("gnuplot", MFD_CLOEXEC));  // in memory, so that no pipe has to be fed while gnuplot draws
  if (in.number() < 0) return cannot(errno);
  if (const int error = write_all(in.number(), to_standard_output(script)); error != 0) return cannot(error);
  lseek(in.number(), 0, SEEK_SET);
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot(errno);
  const OpenFile from(ends[0]);
  OpenFile into(ends[1]);
  // The script names its table by a path relative to the folder.
  const std::string shell = "cd -- \"$1\" && exec gnuplot";
  std::array<const char*, 6> arguments{"sh", "-c", shell.c_str(), "sh", folder.c_str(), nullptr};
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, into.number(), STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, "sh", &files, nullptr, const_cast<char* const*>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&files);
  into.close();
  if (error != 0) return cannot(error);
  const std::string drawn = from.read();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kNotFound = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || drawn.empty()) return user_error("gnuplot failed on " + picture);
  if (auto written = write_output(picture, drawn); !written) return std::unexpected(written.error());
  return true;
}

}  // namespace warpfold::cli
