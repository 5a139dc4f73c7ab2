#include "configs/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warpfold {

Expected<std::string> read_file(const std::string& path) {
  const auto cannot = [&path](const std::string& why) { return fail("cannot read \"" + path + "\": " + why); };
  std::error_code ignored;  // what cannot be examined cannot be opened either, and that is reported
  if (std::filesystem::is_directory(path, ignored)) return cannot("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return cannot(std::strerror(errno));
  return text.str();
}

}  // namespace warpfold
