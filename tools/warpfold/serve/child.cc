#include "tools/warpfold/serve/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "tools/warpfold/render/open_file.h"
#include "tools/warpfold/run/sanitized.h"

namespace warpfold::serve {

namespace {

constexpr size_t kMostSaid = size_t{1} << 16U;
constexpr int kNotStarted = 127;

void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit limit {};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  limit.rlim_max = std::min(limit.rlim_max, most);
  (void)setrlimit(resource, &limit);
}

// Turns the forked process into the command. Between fork and exec only system calls are safe.
[[noreturn]] void become(const char* program, char* const* arguments, int in, int out, int err, pid_t parent, rlim_t memory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  if (!cli::kSanitized) limit(RLIMIT_DATA, memory);
  limit(RLIMIT_CORE, 0);
  if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 &&
      close_range(STDERR_FILENO + 1, ~0U, 0) == 0)
    execv(program, arguments);
  _exit(kNotStarted);
}

}  // namespace

Child::Child(boost::asio::io_context& io, const Limits& limits, std::function<void(const Ended&)> then)
    : timer_(io), limits_(limits), out_(io), err_(io), then_(std::move(then)) {}

Child::~Child() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Expected<std::shared_ptr<Child>> Child::start(boost::asio::io_context& io, const std::string& program,
                                              const std::vector<std::string>& words, const Limits& limits,
                                              std::function<void(const Ended&)> then) {
  const auto cannot = [](int error) { return fail(std::string("cannot start the command: ") + std::strerror(error)); };
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return cannot(errno);
  const cli::OpenFile out_into(out[1]);
  auto child = std::make_shared<Child>(io, limits, std::move(then));
  child->out_.end.assign(out[0]);
  if (pipe2(err.data(), O_CLOEXEC) != 0) return cannot(errno);
  const cli::OpenFile err_into(err[1]);
  child->err_.end.assign(err[0]);
  const cli::OpenFile nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.number() < 0) return cannot(errno);

  std::vector<std::string> copies{"warpfold"};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  child->process_ = fork();
  if (child->process_ == 0)
    become(program.c_str(), arguments.data(), nothing.number(), out_into.number(), err_into.number(), parent, limits.memory_bytes);
  if (child->process_ < 0) return cannot(errno);

  child->timer_.expires_after(limits.time);
  child->timer_.async_wait([weak = child->weak_from_this(), seconds = limits.time.count()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (self != nullptr && !error) self->stop("time limit of " + std::to_string(seconds) + " s reached (--answer-time)");
  });
  child->read(child->out_, child->ended_.out, limits.output_bytes, "the answer is larger than the page takes");
  child->read(child->err_, child->ended_.err, kMostSaid, "");
  return child;
}

void Child::stop(const std::string& why) {
  if (process_ < 0) return;
  if (ended_.stopped.empty()) ended_.stopped = why;
  kill(process_, SIGKILL);
}

// Reads the pipe until the command closes it. Output beyond `most` stops the command with the reason `too_much`; if that is empty,
// the output beyond is dropped.
void Child::read(Pipe& pipe, std::string& into, size_t most, const std::string& too_much) {
  pipe.end.async_read_some(boost::asio::buffer(pipe.piece),
                           [self = shared_from_this(), &pipe, &into, most, too_much](boost::system::error_code error, size_t size) {
                             if (error) return self->closed();
                             into.append(pipe.piece.data(), std::min(size, most - into.size()));
                             if (into.size() == most && !too_much.empty()) self->stop(too_much);
                             self->read(pipe, into, most, too_much);
                           });
}

// Called for each pipe when the command ends, which closes both pipes.
void Child::closed() {
  if (--open_pipes_ > 0) return;
  timer_.cancel();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  constexpr int kSignalled = 128;
  ended_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  const auto then = std::exchange(then_, nullptr);
  if (then) then(ended_);
}

}  // namespace warpfold::serve
