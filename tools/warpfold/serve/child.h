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
  uint64_t memory_bytes = uint64_t{2} << 30U;  // of private writable memory (RLIMIT_DATA); sanitizers go without
  size_t output_bytes = size_t{64} << 20U;
};

// How a command ended.
struct Ended {
  int exit_code = 0;    // of one that a signal ended, 128 and the signal
  std::string out;      // standard output
  std::string err;      // standard error, its beginning
  std::string stopped;  // why this program ended it; empty: it ended by itself
};

// A command of this program as a process of its own. It has no input, no files of this process but its two pipes, and ends with
// this process. Used from the one thread that runs the io_context.
class Child : public std::enable_shared_from_this<Child> {
 public:
  // Runs `program` with argument 0 "warpfold" and these words. `then` is called once, when the command has ended; it may be called
  // after stop(), but never from within start() or stop().
  static Expected<std::shared_ptr<Child>> start(boost::asio::io_context& io, const std::string& program,
                                                const std::vector<std::string>& words, const Limits& limits,
                                                std::function<void(const Ended&)> then);
  Child(boost::asio::io_context& io, const Limits& limits, std::function<void(const Ended&)> then);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Kills the command, where it still runs. The first reason is kept.
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
  pid_t process_ = -1;  // none any more, or not yet
  Ended ended_;
  std::function<void(const Ended&)> then_;
};

}  // namespace warpfold::serve
