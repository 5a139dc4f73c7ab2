#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::serve {

// Bounds of one command.
struct Limits {
  std::chrono::seconds time{60};
  uint64_t memory_bytes = uint64_t{2} << 30U;  // of private writable memory (RLIMIT_DATA); not set under sanitizers
  size_t output_bytes = size_t{64} << 20U;
};

// The end of a command.
struct Ended {
  int exit_code = 0;    // 128 plus the signal if a signal ended the command
  std::string out;      // standard output
  std::string err;      // the beginning of standard error
  std::string stopped;  // the reason if this program stopped the command; empty: the command ended by itself
};

// A command of this program, run as a process of its own. The process has no input, no open files of this process except its two
// pipes, and dies with this process. All calls come from the one thread that runs the io_context.
class Child : public std::enable_shared_from_this<Child> {
 public:
  // Runs `program` with argument 0 "warpfold" and these words. Calls `then` once, after the command has ended. That may be after
  // stop(), but never within start() or stop().
  static Expected<std::shared_ptr<Child>> start(boost::asio::io_context& io, const std::string& program,
                                                const std::vector<std::string>& words, const Limits& limits,
                                                std::function<void(const Ended&)> then);
  Child(boost::asio::io_context& io, const Limits& limits, std::function<void(const Ended&)> then);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Kills the command if it still runs. The first reason is kept.
  void stop(const std::string& why);

 private:
  struct Pipe {
    explicit Pipe(boost::asio::io_context& io) : end(io) {}
    boost::asio::posix::stream_descriptor end;
    std::array<char, size_t{1} << 16U> piece{};
  };

  void read(Pipe& pipe, std::string& into, size_t most, const std::string& too_much);
  void closed();

  boost::asio::steady_timer timer_;
  Limits limits_;
  Pipe out_;
  Pipe err_;
  int open_pipes_ = 2;
  pid_t process_ = -1;  // -1 before the start and after the end
  Ended ended_;
  std::function<void(const Ended&)> then_;
};

}  // namespace warpfold::serve
