#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "configs/diagnostic.h"
#include "tools/warpfold/serve/child.h"
#include "tools/warpfold/serve/guard.h"
#include "tools/warpfold/serve/question.h"

namespace warpfold::serve {

struct ServerOptions {
  uint16_t port = 0;                       // 0: any free port
  std::string scenario;                    // the page's first scenario
  std::string program = "/proc/self/exe";  // the program whose commands answer questions
  Limits limits{};                         // of one answer
};

// Serves the page and its questions to this machine (127.0.0.1) until stop(), SIGINT or SIGTERM. Uses one thread; commands run as
// processes (child.h). Bounds:
//   connections   64 at a time; the next is closed at once
//   head, body    8 KiB, 64 KiB
//   time          10 s for a request to arrive or an answer to leave, 60 s of silence between two
//   commands      8 at a time, one per session: a newer question or a closed connection ends the previous command
class Server {
 public:
  Server(Names names, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Fails if the port is not free.
  Expected<void> listen();
  const Site& site() const { return site_; }
  void run();
  // May be called from any thread.
  void stop();

 private:
  class Connection;

  void accept();
  // Starts the command of a question; fails if too many commands run.
  Expected<std::shared_ptr<Child>> ask(const Question& question, std::function<void(const Ended&)> then);

  Names names_;
  ServerOptions options_;
  Site site_;
  std::string nonce_;
  std::string page_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  boost::asio::signal_set signals_{io_};
  size_t connections_ = 0;
  size_t commands_ = 0;
  std::map<std::string, std::weak_ptr<Child>> sessions_;
};

}  // namespace warpfold::serve
