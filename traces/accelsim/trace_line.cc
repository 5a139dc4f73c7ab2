#include "traces/accelsim/trace_line.h"

#include <bit>

#include "configs/escape/quoted.h"
#include "traces/accelsim/tokens.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr int kModeList = 0;
constexpr int kModeStride = 1;
constexpr int kModeDeltas = 2;
constexpr int kModeBulkList = 3;
constexpr int kModeBulkDeltas = 4;

// True for UTMALDG and similar opcodes, whose lines have a byte count and the mbarrier instead of a width per lane.
bool is_bulk(std::string_view opcode) {
  for (const std::string_view name : {"UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"}) {
    if (opcode.starts_with(name)) return true;
  }
  return false;
}

// Parses the parts of a line from left to right. The first part that does not fit gives the message.
class Parser {
 public:
  Parser(std::string_view line, const LineForm& form, TraceLine& out) : words_(line), form_(form), out_(out) {}

  std::optional<std::string> parse() {
    leading() && registers(out_.destinations, "destination") && opcode() && registers(out_.sources, "source") && memory() && rest();
    return problem_;
  }

 private:
  bool wrong(std::string what) {
    problem_ = std::move(what);
    return false;
  }

  bool leading() {
    uint64_t number = 0;
    for (size_t i = 0; i < form_.leading; ++i) {
      if (!words_.number(number)) return wrong("expected the CTA's and the warp's numbers");
      if (i < out_.leading.size()) out_.leading[i] = number;
    }
    if (form_.line_number && !words_.number(number)) return wrong("expected the source's line number");
    if (!words_.hexadecimal(out_.pc)) return wrong("expected a PC in hexadecimal");
    uint64_t mask = 0;
    if (!words_.hexadecimal(mask) || mask > 0xffffffff) return wrong("expected a mask of 32 lanes in hexadecimal");
    out_.mask = static_cast<uint32_t>(mask);
    text_begin_ = words_.position();
    return true;
  }

  bool registers(RegisterList& list, const char* kind) {
    size_t count = 0;
    if (!words_.number(count)) return wrong(std::string("expected the number of ") + kind + " registers");
    if (count > kMostRegistersOfLine)
      return wrong(std::to_string(count) + " " + kind + " registers; an instruction has at most 16");
    list.count = count;
    for (size_t i = 0; i < count; ++i) {
      list.names[i] = words_.next();
      if (!is_register(list.names[i])) {
        return wrong("expected " + std::to_string(count) + " " + kind + " registers, not " + escape::quoted(list.names[i]));
      }
    }
    text_end_ = count > 0 ? list.names[count - 1].data() + list.names[count - 1].size() : words_.position();
    return true;
  }

  static bool is_register(std::string_view name) {
    if (name.starts_with('U')) name.remove_prefix(1);
    if (!name.starts_with('R') && !name.starts_with('P')) return false;
    unsigned number = 0;
    return name.substr(1) == "Z" || name.substr(1) == "T" || (Tokens::whole(name.substr(1), number) && number < 256);
  }

  bool opcode() {
    out_.opcode = words_.next();
    if (out_.opcode.empty() || out_.opcode.front() < 'A' || out_.opcode.front() > 'Z') return wrong("expected an opcode");
    return true;
  }

  bool memory() {
    out_.text = std::string_view(text_begin_, static_cast<size_t>(text_end_ - text_begin_));
    out_.width = 0;
    out_.has_addresses = false;
    out_.bulk = false;
    if (words_.ended() && out_.opcode.starts_with("REPLAY")) return true;
    uint64_t ignored = 0;
    if (out_.opcode.find("GMMA") != std::string_view::npos && !words_.number(ignored)) return wrong("expected wgmma's commit flag");
    if (!words_.number(out_.width)) return wrong("expected the width of the access");
    if (out_.width == 0) return true;
    if (is_bulk(out_.opcode)) return bulk();
    return addresses();
  }

  bool bulk() {
    uint64_t multicast = 0;
    uint64_t ignored = 0;
    if (!words_.hexadecimal(ignored)) return wrong("expected the mbarrier's address of a bulk copy");
    if (!words_.number(multicast) || multicast > 1) return wrong("expected the multicast flag of a bulk copy, 0 or 1");
    if (multicast == 1 && !words_.hexadecimal(ignored)) return wrong("expected the CTA mask of a multicast");
    if (!words_.number(out_.bulk_bytes) || !words_.number(ignored)) return wrong("expected the bytes of a bulk copy");
    int mode = 0;
    if (!words_.number(mode) || (mode != kModeBulkList && mode != kModeBulkDeltas)) {
      return wrong("expected address mode 3 or 4 of a bulk copy");
    }
    uint64_t count = 0;
    if (mode == kModeBulkDeltas && !words_.hexadecimal(ignored)) return wrong("expected the base address of a bulk copy");
    if (!words_.number(count)) return wrong("expected the number of addresses of a bulk copy");
    const uint64_t listed = mode == kModeBulkList ? count : count == 0 ? 0 : count - 1;
    int64_t delta = 0;
    for (uint64_t i = 0; i < listed; ++i) {
      const bool read = mode == kModeBulkList ? words_.hexadecimal(ignored) : words_.number(delta);
      if (!read) return wrong("fewer addresses of a bulk copy than its line says");
    }
    out_.bulk = true;
    return true;
  }

  bool mismatch() {
    const int lanes = std::popcount(out_.mask);
    return wrong("the mask has " + std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes") +
                 ", and the addresses are as many as that in no reading; the line is damaged");
  }

  bool addresses() {
    int mode = 0;
    if (!words_.number(mode)) return wrong("expected the mode of the addresses");
    access::LaneAccess& access = out_.access;
    access.mask = out_.mask;
    out_.has_addresses = true;
    uint64_t base = 0;
    if (mode == kModeList) {
      for (uint32_t left = out_.mask; left != 0; left &= left - 1) {
        if (!words_.hexadecimal(access.addresses[std::countr_zero(left)])) return mismatch();
      }
      return true;
    }
    if (mode != kModeStride && mode != kModeDeltas) return wrong("address mode " + std::to_string(mode) + "; lanes have 0, 1 or 2");
    if (!words_.hexadecimal(base)) return mismatch();
    int64_t step = 0;
    if (mode == kModeStride && !words_.number(step)) return mismatch();
    bool first = true;
    for (uint32_t left = out_.mask; left != 0; left &= left - 1) {
      if (!first) {
        if (mode == kModeDeltas && !words_.number(step)) return mismatch();
        base += static_cast<uint64_t>(step);
      }
      first = false;
      access.addresses[std::countr_zero(left)] = base;
    }
    return true;
  }

  // Reads the immediate, which late version 4 begins to write. From version 6 on a second immediate and register values
  // follow.
  bool rest() {
    out_.immediate = 0;
    const bool optional = form_.version <= 4 || out_.opcode.starts_with("REPLAY");
    if (words_.ended()) {
      if (optional) return true;
      return out_.has_addresses ? mismatch() : wrong("the line ends before its immediate");
    }
    std::string_view word = words_.next();
    const bool number = word == "Val" || word == "NoVal" || immediate(word);
    if (!number && out_.has_addresses) return mismatch();
    if (!number) return wrong("expected an immediate, not " + escape::quoted(word));
    if (words_.ended()) return true;
    if (form_.version < 6) return out_.has_addresses ? mismatch() : wrong("more on the line than an instruction has");
    return true;
  }

  bool immediate(std::string_view word) {
    if (Tokens::whole(word, out_.immediate)) return true;
    uint64_t large = 0;
    if (Tokens::whole(word, large)) {
      out_.immediate = static_cast<int64_t>(large);
      return true;
    }
    double real = 0;  // of FADD and similar opcodes
    if (!Tokens::whole_real(word, real)) return false;
    out_.immediate = std::bit_cast<int64_t>(real);
    return true;
  }

  Tokens words_;
  const LineForm& form_;
  TraceLine& out_;
  const char* text_begin_ = nullptr;
  const char* text_end_ = nullptr;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> parse_line(std::string_view line, const LineForm& form, TraceLine& out) {
  return Parser(line, form, out).parse();
}

}  // namespace warpfold::traces::accelsim
