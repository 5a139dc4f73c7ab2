// The server over real connections of this machine: its answers, its refusals, and its survival.

#include "tools/warpfold/serve/server.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <memory>
#include <thread>

#include "tests/source_dir.h"
#include "tools/warpfold/commands/dispatch.h"
#include "tools/warpfold/run/sanitized.h"

namespace warpfold::serve {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kSmall = WARPFOLD_SOURCE_DIR "/configs/scenarios/qkv_philox_small.textproto";
const std::string kLong = WARPFOLD_SOURCE_DIR "/configs/scenarios/block_llama3_70b.textproto";

google::protobuf::Struct parsed(const std::string& json) {
  google::protobuf::Struct message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  if (!status.ok()) throw std::runtime_error("no JSON: " + json.substr(0, 200));
  return message;
}

// A server in a thread of its own, and clients that send arbitrary bytes.
class Serving : public testing::Test {
 protected:
  ~Serving() override {
    if (server_) server_->stop();
  }

  void start(const Limits& limits = {}) {
    server_ = std::make_unique<Server>(Names{{kSmall, kLong}, {"h200_sxm"}, {}},
                                       ServerOptions{.scenario = kSmall, .program = WARPFOLD_PROGRAM, .limits = limits});
    ASSERT_TRUE(server_->listen().has_value());
    thread_ = std::jthread([this] { server_->run(); });
  }

  tcp::socket connected() {
    tcp::socket socket(io_);
    socket.connect({boost::asio::ip::address_v4::loopback(), server_->site().port});
    return socket;
  }

  static std::string rest_of(tcp::socket& socket) {
    std::string text;
    boost::system::error_code end;
    boost::asio::read(socket, boost::asio::dynamic_buffer(text), end);
    return text;
  }

  // Everything that comes until the server closes the connection.
  std::string sent(const std::string& request) {
    tcp::socket socket = connected();
    boost::system::error_code ignored;  // a server that refuses a body may close before all of it is written
    boost::asio::write(socket, boost::asio::buffer(request), ignored);
    return rest_of(socket);
  }

  std::string head(const std::string& method, const std::string& place, const std::string& more = "") const {
    return method + " /" + server_->site().token + "/" + place +
           " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->site().port) + "\r\nConnection: close\r\n" + more;
  }
  std::string asking(const std::string& body) const {
    return head("POST", "ask", "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n") + body;
  }
  std::string page() { return sent(head("GET", "") + "\r\n"); }
  static std::string body_of(const std::string& response) {
    const size_t end = response.find("\r\n\r\n");
    return end == std::string::npos ? "" : response.substr(end + 4);
  }
  google::protobuf::Struct answer(const std::string& lines) { return parsed(body_of(sent(asking(lines)))); }

  boost::asio::io_context io_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

std::string text(const google::protobuf::Struct& answer, const std::string& field) {
  return answer.fields().at(field).string_value();
}

TEST_F(Serving, HasThePage) {
  start();
  const std::string response = page();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(response, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'nonce-"));
  EXPECT_THAT(response, HasSubstr("<title>Warpfold workbench</title>"));
  EXPECT_EQ(response.find("<!-- insert"), std::string::npos);
}

TEST_F(Serving, AnswersWithTheBytesOfTheCommand) {
  start();
  const std::string body = body_of(sent(asking("ask simulate\nscenario " + kSmall + "\nset rounds=5")));
  const auto by_command = cli::answer({"simulate", kSmall, "--set", "rounds=5", "--timeline", "--format", "json"});
  ASSERT_TRUE(by_command.has_value());
  EXPECT_THAT(body, HasSubstr("\"result\": " + *by_command));
  const auto message = parsed(body);
  EXPECT_EQ(text(message, "message"), "");
  EXPECT_EQ(text(message, "command"), "warpfold simulate " + kSmall + " --set rounds=5 --timeline --format json");
  EXPECT_THAT(text(message.fields().at("finding").list_value().values(0).struct_value(), "text"),
              HasSubstr("qkv_philox_small on H100"));
}

TEST_F(Serving, SaysWhatTheCommandSays) {
  start();
  const auto message = answer("ask simulate\nscenario " + kSmall + "\nset rounds=6");
  EXPECT_EQ(message.fields().at("exit_code").number_value(), 2);
  EXPECT_THAT(text(message, "message"), HasSubstr("rounds"));
  EXPECT_FALSE(message.fields().contains("result"));
}

TEST_F(Serving, RunsAStudyThatLeavesNothing) {
  start();
  const auto message = answer("ask study\nscenario " + kSmall + "\naxis rounds=3,5");
  EXPECT_THAT(text(message, "result"), StartsWith("rounds,policy,estimator,total_time_us"));
}

TEST_F(Serving, RefusesWhatIsNotForIt) {
  start();
  const std::string host = "Host: 127.0.0.1:" + std::to_string(server_->site().port) + "\r\n";
  EXPECT_THAT(sent("GET / HTTP/1.1\r\n" + host + "\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(sent("GET /" + server_->site().token + "/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 421"));
  EXPECT_THAT(sent(head("GET", "", "Origin: http://evil.example\r\n") + "\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(sent(head("GET", "", host) + "\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(sent(head("DELETE", "") + "\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(sent("no request\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(sent(std::string(1, '\0') + "\xff\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(sent(asking("ask simulate\nscenario ../../../../etc/passwd")), StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(sent(asking("ask simulate\nscenario " + std::string(60000, 'x'))), StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(sent(asking(std::string("ask \0\xff", 6))), StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(page(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Serving, BoundsHeadAndBody) {
  start();
  EXPECT_THAT(sent(head("POST", "ask", "Content-Length: 1000000000000\r\n\r\n")), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(sent(head("GET", "", "X: " + std::string(9000, 'x') + "\r\n\r\n")), StartsWith("HTTP/1.1 431"));
  const std::string huge =
      sent(head("POST", "ask", "Transfer-Encoding: chunked\r\n\r\n") + "FFFFFF\r\n" + std::string(0xffffff, 'x'));
  EXPECT_TRUE(huge.empty() || huge.starts_with("HTTP/1.1 413")) << huge.substr(0, 100);  // closed under its hands
  EXPECT_THAT(page(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Serving, LivesThroughAThousandConnections) {
  start();
  std::vector<tcp::socket> sockets;
  for (int i = 0; i < 1000; ++i) sockets.push_back(connected());
  sockets.clear();
  // The server drops closed connections one by one; until then it may refuse a new one.
  std::string response;
  for (int tries = 0; tries < 100 && response.empty(); ++tries) {
    response = page();
    if (response.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200"));
}

TEST_F(Serving, ClosesTheSixtyFifthConnection) {
  start();
  std::vector<tcp::socket> sockets;
  for (int i = 0; i < 64; ++i) sockets.push_back(connected());
  EXPECT_EQ(page(), "");
  sockets.clear();
}

TEST_F(Serving, ANewerQuestionEndsTheOneBefore) {
  start();
  tcp::socket before = connected();
  boost::asio::write(before, boost::asio::buffer(asking("session a\nask simulate\nscenario " + kLong)));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(text(answer("session a\nask model\nscenario " + kSmall), "message"), "");
  const auto ended = parsed(body_of(rest_of(before)));
  EXPECT_EQ(text(ended, "message"), "a newer question has come");
  EXPECT_TRUE(ended.fields().at("stopped").bool_value());
}

TEST_F(Serving, AClosedConnectionEndsItsQuestion) {
  start();
  const auto long_question = [&](int n) { return asking("session s" + std::to_string(n) + "\nask simulate\nscenario " + kLong); };
  std::vector<tcp::socket> sockets;
  for (int i = 0; i < 8; ++i) {
    sockets.push_back(connected());
    boost::asio::write(sockets.back(), boost::asio::buffer(long_question(i)));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::string ninth = sent(long_question(9));
  EXPECT_THAT(ninth, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(ninth, HasSubstr("8 commands run already: wait for one of them"));
  sockets.clear();
  std::string after;
  for (int tries = 0; tries < 100 && !after.starts_with("HTTP/1.1 200"); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    after = sent(asking("ask model\nscenario " + kSmall));
  }
  EXPECT_THAT(after, StartsWith("HTTP/1.1 200"));
}

TEST_F(Serving, BoundsTheTimeOfAnAnswer) {
  start({.time = std::chrono::seconds(1)});
  const auto message = answer("ask whatif\nscenario " + kLong);
  EXPECT_EQ(text(message, "message"), "time limit of 1 s reached (--answer-time)");
  EXPECT_TRUE(message.fields().at("stopped").bool_value());
}

TEST_F(Serving, BoundsTheMemoryOfAnAnswer) {
  if (cli::kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes";
  start({.memory_bytes = uint64_t{12} << 20U});
  const auto message = answer("ask simulate\nscenario " + kLong);
  EXPECT_EQ(message.fields().at("exit_code").number_value(), 4) << text(message, "message");
}

TEST_F(Serving, BoundsTheSizeOfAnAnswer) {
  start({.output_bytes = 1000});
  EXPECT_EQ(text(answer("ask simulate\nscenario " + kSmall), "message"), "the answer is larger than the page takes");
}

TEST_F(Serving, SaysThatAPortIsTaken) {
  start();
  Server second(Names{{kSmall}, {}, {}}, ServerOptions{.port = server_->site().port, .scenario = kSmall});
  const auto listening = second.listen();
  ASSERT_FALSE(listening.has_value());
  EXPECT_EQ(listening.error().message,
            "cannot listen on port " + std::to_string(server_->site().port) + " of 127.0.0.1: Address already in use");
}

}  // namespace
}  // namespace warpfold::serve
