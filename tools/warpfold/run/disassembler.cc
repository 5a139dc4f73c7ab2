#include "tools/warpfold/run/disassembler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "configs/escape/quoted.h"
#include "tools/warpfold/render/open_file.h"

namespace warpfold::cli {

namespace {

constexpr size_t kMostText = size_t{512} << 20;

// Starts nvdisasm. Returns 0, or the error number if it cannot start.
int start(const std::string& cubin, const OpenFile& out, const OpenFile& err, pid_t& child) {
  std::array<const char*, 4> arguments{"nvdisasm", "-hex", cubin.c_str(), nullptr};
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.number(), STDERR_FILENO);
  const int error = posix_spawnp(&child, arguments.front(), &files, nullptr, const_cast<char* const*>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

bool is_cubin(std::string_view content) {
  return content.starts_with(
      "\x7f"
      "ELF");
}

Outcome<Disassembly> disassembled(const std::string& cubin) {
  const auto cannot = [](const std::string& why) { return user_error("cannot run nvdisasm: " + why); };
  const OpenFile said(memfd_create("nvdisasm", MFD_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (said.number() < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) return cannot(std::strerror(errno));
  const OpenFile from(ends[0]);
  OpenFile into(ends[1]);
  // Prevents a file name that begins with - from being read as an option.
  const std::string path = cubin.starts_with('-') ? "./" + cubin : cubin;
  pid_t child = 0;
  const int error = start(path, into, said, child);
  into.close();
  if (error == ENOENT) {
    return std::unexpected(Failure(Diagnostic{cubin, 1, 1,
                                              "this is a binary, no listing; disassemble it (the PATH has no nvdisasm): "
                                              "where the CUDA toolkit is, nvdisasm -hex "
                                              "FILE > kernel.sass, or cuobjdump -sass -res-usage FILE > kernel.sass"}));
  }
  if (error != 0) return cannot(std::strerror(error));
  Disassembly result{"nvdisasm -hex " + cubin, from.read(kMostText)};
  const bool too_much = result.text.size() > kMostText;
  if (too_much) kill(child, SIGTERM);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (too_much) return cannot("it prints more than 512 MB of " + escape::unquoted(cubin));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    lseek(said.number(), 0, SEEK_SET);
    constexpr size_t kMostSaid = 1000;
    const std::string why = said.read(kMostSaid);
    return std::unexpected(Failure(Diagnostic{cubin, 1, 1, "nvdisasm fails: " + escape::unquoted(why.substr(0, why.find('\n')))}));
  }
  return result;
}

}  // namespace warpfold::cli
