#include "tools/warpfold/render/gnuplot.h"

#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace warpfold::cli {

Outcome<bool> draw(const std::string& folder, const std::string& script) {
  // gnuplot writes beside its script, so that the script can be run again by hand.
  const std::string shell = "cd -- \"$1\" && exec gnuplot \"$2\"";
  std::array<const char*, 7> arguments{"sh", "-c", shell.c_str(), "sh", folder.c_str(), script.c_str(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char* const*>(arguments.data()), environ);
  if (error != 0) return user_error(std::string("cannot run gnuplot: ") + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kNotFound = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return user_error("gnuplot failed on " + folder + "/" + script);
  return true;
}

}  // namespace warpfold::cli
