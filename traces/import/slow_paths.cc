#include "traces/import/slow_paths.h"

#include <algorithm>
#include <array>
#include <optional>

#include "traces/import/flow.h"

namespace warpfold::sass {
namespace {

using isa::Behaviour;

constexpr int kLongestWay = 64;                       // instructions before a call
constexpr int kLongestTest = 64;                      // instructions between a test and its branch
constexpr std::string_view kLargestAngle = "105615";  // CUDA math library, sinf and cosf: beyond this angle, reduction with a table

bool computes(const Op& op) {
  switch (op.behaviour) {
    case Behaviour::kFixedLatency:
    case Behaviour::kVariableMath:
    case Behaviour::kLoadConstant:
    case Behaviour::kReadSpecial:
    case Behaviour::kBranch:
    case Behaviour::kNoOperation:
      return true;
    default:
      return false;
  }
}

class Marker {
 public:
  explicit Marker(std::vector<Op>& ops) : ops_(ops) {}

  void mark() {
    for (Op& op : ops_) {
      if (op.behaviour != Behaviour::kBranch || op.has("DIV") || !may_fall_through(op)) continue;
      if (const auto found = beyond_largest_angle(op)) {
        op.slow = *found;
        op.slow_reason = "range reduction of a large angle";
      } else if (op.base == "CALL") {
        if (op.instruction->guard.present) put(op, reason_of_call(op), {});
      } else {
        put(op, reason_of_way(op.target), reason_of_way(op.index + 1));
      }
    }
  }

 private:
  static void put(Op& op, std::string_view taken, std::string_view fall_through) {
    if (taken.empty() == fall_through.empty()) return;
    op.slow = taken.empty() ? Op::Slow::kFallThrough : Op::Slow::kTaken;
    op.slow_reason = taken.empty() ? fall_through : taken;
  }

  const Op& at(int place) const { return ops_[static_cast<size_t>(place)]; }
  bool inside(int place) const { return place >= 0 && static_cast<size_t>(place) < ops_.size(); }

  // Returns the reason if straight-line code from `place` leads to a slow path; else empty.
  std::string_view reason_of_way(int place) const {
    for (int steps = 0; steps < kLongestWay && inside(place); ++steps) {
      const Op& op = at(place);
      if (op.base == "BPT") return "a trap";
      if (op.base == "CALL") return op.instruction->guard.present ? std::string_view() : reason_of_call(op);
      if (op.behaviour == Behaviour::kExit) return {};
      if (op.behaviour == Behaviour::kBranch && (may_fall_through(op) || op.base == "RET")) return {};
      place = op.behaviour == Behaviour::kBranch ? op.target : place + 1;
    }
    return {};
  }

  std::string_view reason_of_call(const Op& call) const {
    if (call.target < 0) {
      const bool fails = call.callee.find("__assertfail") != std::string_view::npos;
      const bool prints = call.callee.find("vprintf") != std::string_view::npos;
      if (!fails && !prints && calls_runtime(call)) return "a call of the runtime's: printf, a failed assertion";
      return fails ? "a failed assertion" : prints ? "printf" : "";
    }
    const std::set<int> body = reached_from(ops_, call.target);
    const bool returns = std::ranges::any_of(body, [this](int place) { return at(place).base == "RET"; });
    const bool alone = std::ranges::all_of(body, [this](int place) { return computes(at(place)); });
    // A 64-bit integer division calls the subroutine unless both operands are short, so the values decide.
    const bool divides = std::ranges::any_of(body, [this](int place) { return at(place).base == "F2I" && at(place).has("U64"); });
    return returns && alone && !divides ? "a subroutine that only computes" : "";
  }

  // True if LDC.64 R10, c[0x4][R0] precedes CALL.ABS.NOINC R10: constant bank 4 holds the addresses of the runtime's
  // functions.
  bool calls_runtime(const Op& call) const {
    for (int place = call.index - 1; place >= std::max(0, call.index - kLongestTest); --place) {
      const bool loads = std::ranges::any_of(
          at(place).sources, [](const Source& source) { return source.kind == Source::Kind::kConstant && source.bank == 4; });
      if (loads && call.has("ABS")) return true;
    }
    return false;
  }

  // FSETP.GE.AND P0, PT, |R4|, 105615, PT before @P0 BRA.
  std::optional<Op::Slow> beyond_largest_angle(const Op& op) const {
    const isa::Guard& guard = op.instruction->guard;
    if (!guard.present || guard.uniform) return std::nullopt;
    for (int place = op.index - 1; place >= std::max(0, op.index - kLongestTest); --place) {
      const Op& test = at(place);
      const bool writes = std::ranges::any_of(test.destinations, [&guard](const Source& destination) {
        return destination.kind == Source::Kind::kPredicate && destination.index == guard.predicate;
      });
      if (!writes) continue;
      const bool compares = test.base == "FSETP" && std::ranges::any_of(test.sources, [](const Source& source) {
                              return source.kind == Source::Kind::kImmediate && source.text == kLargestAngle;
                            });
      if (!compares) return std::nullopt;
      const bool above = test.has("GE") || test.has("GT") || test.has("GEU") || test.has("GTU");
      return above != guard.negated ? Op::Slow::kTaken : Op::Slow::kFallThrough;
    }
    return std::nullopt;
  }

  std::vector<Op>& ops_;
};

}  // namespace

void mark_slow_paths(std::vector<Op>& ops) { Marker(ops).mark(); }

}  // namespace warpfold::sass
