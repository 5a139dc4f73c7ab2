#include "tools/warpfold/serve/guard.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace warpfold::serve {

namespace {

constexpr std::string_view kAddress = "127.0.0.1";
constexpr std::string_view kName = "localhost";

// Compares in a time that does not depend on how many letters match.
bool same(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < token.size(); ++i) difference |= static_cast<unsigned char>(given[i] ^ token[i]);
  return difference == 0;
}

// Returns whether a host is this site's: "127.0.0.1:8080" or "localhost:8080".
bool is_own_host(std::string_view host, const Site& site) {
  const std::string port = ":" + std::to_string(site.port);
  return host == std::string(kAddress) + port || host == std::string(kName) + port;
}

}  // namespace

std::string Site::url() const { return "http://" + std::string(kAddress) + ":" + std::to_string(port) + "/" + token + "/"; }

std::string random_token() {
  std::array<unsigned char, 16> bits{};
  ssize_t got = 0;
  while ((got = getrandom(bits.data(), bits.size(), 0)) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(bits.size())) throw std::runtime_error("the kernel gives no random numbers");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bits) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  return token;
}

Verdict judge(const Head& head, const Site& site) {
  const auto refused = [](unsigned status, std::string_view why) { return Verdict{Refusal{status, why}}; };
  if (head.repeated) return refused(400, "a field of the head comes twice");
  if (!is_own_host(head.host, site))
    return refused(
        421,
        "this server answers to 127.0.0.1 and localhost with its port alone: open the address that warpfold serve printed "
        "in its terminal");
  const size_t end = head.target.find('/', 1);
  if (!head.target.starts_with('/') || end == std::string_view::npos)
    return refused(403,
                   "the address has no token: open the whole address that warpfold serve printed in its terminal, "
                   "http://127.0.0.1:PORT/TOKEN/");
  if (!same(head.target.substr(1, end - 1), site.token))
    return refused(403,
                   "the token in the address is not that of this server, which has a new one after each start: open the address "
                   "that warpfold serve printed in its terminal, http://127.0.0.1:PORT/TOKEN/");
  constexpr std::string_view kScheme = "http://";
  if (head.origin && *head.origin != std::string(kScheme).append(head.host)) return refused(403, "a foreign origin");
  if (head.fetch_site && *head.fetch_site != "same-origin" && *head.fetch_site != "none") return refused(403, "a foreign site");
  const std::string_view path = head.target.substr(end + 1);
  if (path.empty() && head.method == "GET") return {std::nullopt, Wanted::kPage};
  if (path == "ask" && head.method == "POST") return {std::nullopt, Wanted::kAnswer};
  return path.empty() || path == "ask" ? refused(405, "the page takes GET, ask takes POST") : refused(404, "there is no such page");
}

}  // namespace warpfold::serve
