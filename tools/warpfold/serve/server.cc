#include "tools/warpfold/serve/server.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <csignal>
#include <optional>
#include <utility>

#include "tools/warpfold/serve/answer.h"
#include "tools/warpfold/serve/page.h"

namespace warpfold::serve {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

constexpr size_t kMostConnections = 64;
constexpr size_t kMostCommands = 8;
constexpr uint32_t kMostHead = 8U << 10U;
constexpr uint64_t kMostBody = 64U << 10U;
constexpr std::chrono::seconds kTransfer(10);
constexpr std::chrono::seconds kSilence(60);

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

Head head_of(const http::request<http::string_body>& request) {
  Head head{view(request.method_string()), view(request.target()), {}, {}, {}};
  constexpr std::string_view kFetchSite = "Sec-Fetch-Site";
  const beast::string_view fetch_site(kFetchSite.data(), kFetchSite.size());
  head.host = view(request[http::field::host]);
  if (request.count(http::field::origin) > 0) head.origin = view(request[http::field::origin]);
  if (request.count(fetch_site) > 0) head.fetch_site = view(request[fetch_site]);
  head.repeated = request.count(http::field::host) > 1 || request.count(http::field::origin) > 1 || request.count(fetch_site) > 1;
  return head;
}

}  // namespace

// A connection; handles its requests one after the other. Lives as long as an asynchronous operation of it is pending.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Server& server) : stream_(std::move(socket)), server_(server) { ++server_.connections_; }
  ~Connection() { --server_.connections_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHead);
    parser_->body_limit(kMostBody);
    stream_.expires_after(served_any_ ? kSilence : kTransfer);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) { self->have_read(error); });
  }

 private:
  void have_read(error_code error) {
    if (error == http::error::body_limit)
      return respond(http::status::payload_too_large, "text/plain", "the body is larger than 64 KiB\n", true);
    if (error == http::error::header_limit)
      return respond(http::status::request_header_fields_too_large, "text/plain", "the head is larger than 8 KiB\n", true);
    if (error && error.category() != http::make_error_code(http::error::bad_version).category()) return;  // the peer is gone
    if (error == http::error::end_of_stream || error == http::error::partial_message) return;
    if (error) return respond(http::status::bad_request, "text/plain", "this is no HTTP request\n", true);
    const Verdict verdict = judge(head_of(parser_->get()), server_.site_);
    if (verdict.refusal) {
      return respond(static_cast<http::status>(verdict.refusal->status), "text/plain", std::string(verdict.refusal->why) + "\n",
                     true);
    }
    if (verdict.wanted == Wanted::kPage) return respond(http::status::ok, "text/html; charset=utf-8", server_.page_, false);
    answer();
  }

  void answer() {
    asked_ = steady_clock::now();
    auto question = read_question(parser_->get().body(), server_.names_);
    if (!question) return respond_json(http::status::unprocessable_entity, refusal_json(question.error().message));
    question_ = std::move(*question);
    auto child = server_.ask(question_, [self = shared_from_this()](const Ended& ended) {
      self->child_.reset();
      self->respond_json(http::status::ok, answer_json(self->question_, ended, steady_clock::now() - self->asked_));
    });
    if (!child) return respond_json(http::status::service_unavailable, refusal_json(child.error().message));
    child_ = *child;
    stream_.expires_never();  // the command has its own limit
    watch();
  }

  // Stops the command when the peer closes the connection. A further request waits for the answer to the current one.
  void watch() {
    stream_.socket().async_wait(tcp::socket::wait_read, [weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (self == nullptr || error || self->child_ == nullptr) return;
      error_code unknown;
      if (self->stream_.socket().available(unknown) == 0 || unknown) self->child_->stop("the page has closed the connection");
    });
  }

  void respond_json(http::status status, std::string text) { respond(status, "application/json", std::move(text), false); }

  void respond(http::status status, const char* type, std::string body, bool last) {
    auto response = std::make_shared<http::response<http::string_body>>(status, 11);
    response->set(http::field::content_type, type);
    response->set(http::field::cache_control, "no-store");
    response->set("Content-Security-Policy", content_policy(server_.nonce_));
    response->set("X-Content-Type-Options", "nosniff");
    response->set("X-Frame-Options", "DENY");
    response->set("Referrer-Policy", "no-referrer");
    response->set("Cross-Origin-Opener-Policy", "same-origin");
    response->set("Cross-Origin-Resource-Policy", "same-origin");
    response->body() = std::move(body);
    response->keep_alive(!last && parser_->get().keep_alive());
    response->prepare_payload();
    stream_.expires_after(kTransfer);
    http::async_write(stream_, *response, [self = shared_from_this(), response](error_code error, size_t) {
      self->served_any_ = true;
      if (!error && response->keep_alive()) return self->read();
      // Closes this side of the connection and reads no more; the end of the stream tells the peer.
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  Server& server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Question question_;
  std::shared_ptr<Child> child_;
  steady_clock::time_point asked_;
  bool served_any_ = false;
};

Server::Server(Names names, ServerOptions options)
    : names_(std::move(names)),
      options_(std::move(options)),
      site_{random_token(), options_.port},
      nonce_(random_token()),
      page_(page(names_, options_.scenario, nonce_)) {}

Server::~Server() = default;

Expected<void> Server::listen() {
  error_code error;
  const tcp::endpoint here(asio::ip::address_v4::loopback(), options_.port);
  acceptor_.open(here.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(here, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail("cannot listen on port " + std::to_string(options_.port) + " of 127.0.0.1: " + error.message());
  site_.port = acceptor_.local_endpoint().port();
  accept();
  return {};
}

void Server::run() {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.async_wait([this](error_code error, int) {
    if (!error) io_.stop();
  });
  io_.run();
}

void Server::stop() {
  asio::post(io_, [this] { io_.stop(); });
}

void Server::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error && connections_ < kMostConnections) std::make_shared<Connection>(std::move(socket), *this)->read();
    accept();
  });
}

Expected<std::shared_ptr<Child>> Server::ask(const Question& question, std::function<void(const Ended&)> then) {
  if (const auto before = sessions_[question.session].lock()) before->stop("a newer question has come");
  std::erase_if(sessions_, [](const auto& session) { return session.second.expired(); });
  if (commands_ >= kMostCommands) return fail("8 commands run already: wait for one of them");
  auto child =
      Child::start(io_, options_.program, question.words(), options_.limits, [this, then = std::move(then)](const Ended& ended) {
        --commands_;
        then(ended);
      });
  if (!child) return child;
  ++commands_;
  sessions_[question.session] = *child;
  return child;
}

}  // namespace warpfold::serve
