#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpfold::serve {

// The address of the page: http://127.0.0.1:PORT/TOKEN/
struct Site {
  std::string token;  // 128 random bits in hexadecimal
  uint16_t port = 0;

  std::string url() const;
};

// Returns 128 bits of the kernel's random numbers, in hexadecimal.
std::string random_token();

// The parts of a request's head that decide whether the request is answered. `repeated` is set if one of these fields occurs twice;
// neither of its values is used then.
struct Head {
  std::string_view method;
  std::string_view target;
  std::string_view host;
  std::optional<std::string_view> origin;
  std::optional<std::string_view> fetch_site;  // Sec-Fetch-Site
  bool repeated = false;
};

enum class Wanted { kPage, kAnswer };

// The reason for which a request is not answered.
struct Refusal {
  unsigned status = 0;  // HTTP status
  std::string_view why;
};

// The decision about a request. A request is answered if it has the token, comes from the page itself or from no page at all, and
// names this site as its host. The last condition refuses a page of another name that resolves to this machine. GET gets the page,
// POST to `ask` gets an answer.
struct Verdict {
  std::optional<Refusal> refusal;
  Wanted wanted = Wanted::kPage;
};
Verdict judge(const Head& head, const Site& site);

}  // namespace warpfold::serve
