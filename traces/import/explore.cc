#include "traces/import/explore.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "configs/escape/quoted.h"
#include "isa/operand.h"
#include "traces/import/effects.h"
#include "traces/import/follower.h"
#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

constexpr size_t kMostAccesses = size_t{1} << 18;  // some hundred bytes each

constexpr uint64_t kFewestStrata = 64;
constexpr uint64_t kMostStrata = 512;  // an error of a third of a percent for CTAs whose instructions differ by 7 % (collatz)
constexpr uint64_t kSureOfMean = 8;    // CTAs after which their mean predicts the cost of all
constexpr uint8_t kAllDimensions = 0b111;

struct Box {
  std::array<uint32_t, 3> place;
  std::array<uint32_t, 3> corner;
  std::array<uint32_t, 3> extent;
  uint8_t sampled = 0;                 // variables in which one CTA is executed for all
  uint8_t alone = 0;                   // subset of sampled: addresses are not linear in the variable
  std::array<uint32_t, 3> drawn = {};  // the executed CTA, relative to the corner
};

struct WarpTouch {
  uint32_t warp;
  Touch touch;
};

class Explorer {
 public:
  Explorer(const std::string& file, const std::vector<Op>& ops, const Flow& flow, const LaunchFacts& launch, const Limits& limits,
           std::vector<std::string>* questions, const ExploreProgress& progress)
      : file_(file),
        ops_(ops),
        flow_(flow),
        launch_(launch),
        limits_(limits),
        questions_(questions),
        progress_(progress),
        registers_(registers_named(ops, false)),
        uniform_registers_(registers_named(ops, true)) {
    found_.traffic.resize(launch.arrays.size());
    found_.reach.resize(launch.arrays.size());
  }

  Expected<Exploration> explore() {
    std::vector<Box> open;
    for (const std::array<uint32_t, 3>& place : launch_.places_in_cluster()) open.push_back({place, {0, 0, 0}, launch_.clusters()});
    std::ranges::reverse(open);
    while (!open.empty()) {
      Box box = open.back();
      open.pop_back();
      const Box whole = box;
      if (auto followed = follow_box(box); !followed) return std::unexpected(followed.error());
      push_rest(whole, box, open);
      represented_ += product_of(box.extent, kAllDimensions);
      if (progress_) progress_(represented_, launch_.ctas());
      if (costs_too_much(open)) open = sampled(open);
    }
    return std::move(found_);
  }

 private:
  // Returns the CTAs of `open` that would be executed one by one.
  uint64_t one_by_one(const std::vector<Box>& open) const {
    if (not_linear_ == 0) return 0;
    uint64_t ctas = 0;
    for (const Box& box : open) ctas += product_of(box.extent, static_cast<uint8_t>(not_linear_ & ~box.sampled));
    return ctas;
  }

  bool costs_too_much(const std::vector<Box>& open) const {
    if (limits_.all_ctas || open.empty() || (sampling_ == kAllDimensions)) return false;
    const uint64_t followed = found_.followed_ctas - followed_before_;
    if (sampling_ != 0) return (not_linear_ & ~sampling_) != 0 || followed > 8 * kMostStrata;
    const uint64_t left = one_by_one(open);
    const uint64_t mean = followed >= kSureOfMean ? found_.executed / followed : 0;
    return followed + left > limits_.ctas || found_.executed + mean * left > limits_.instructions_of_ctas;
  }

  // Divides the CTAs of `open` into strata, of which one CTA each is executed.
  std::vector<Box> sampled(const std::vector<Box>& open) {
    sampling_ = sampling_ == 0 && not_linear_ != 0 ? not_linear_ : kAllDimensions;
    followed_before_ = found_.followed_ctas;
    uint64_t ctas = 0;
    for (const Box& box : open) ctas += product_of(box.extent, sampling_);
    const uint64_t affordable = limits_.instructions_of_ctas * found_.followed_ctas / std::max<uint64_t>(found_.executed, 1);
    const uint64_t strata = std::min(std::clamp(affordable, kFewestStrata, kMostStrata), limits_.ctas);
    std::vector<Box> result;
    for (const Box& box : open) {
      for (const Stratum& stratum : strata_of({box.corner, box.extent}, sampling_, (ctas + strata - 1) / strata)) {
        result.push_back({.place = box.place,
                          .corner = stratum.corner,
                          .extent = stratum.extent,
                          .sampled = sampling_,
                          .alone = 0,
                          .drawn = drawn_place(stratum, sampling_)});
      }
    }
    return result;
  }

  // Returns the number of registers up to the highest that an instruction names, including those inside brackets.
  static int registers_named(const std::vector<Op>& ops, bool uniform) {
    constexpr int kWidestTuple = 8;  // bulk copy: an address, an mbarrier, five coordinates
    const isa::OperandKind file = uniform ? isa::OperandKind::kUniformRegister : isa::OperandKind::kRegister;
    int most = 0;
    for (const Op& op : ops) {
      for (const isa::Operand& operand : op.instruction->operands) {
        for (const isa::RegisterRange& range : isa::registers_of(operand)) {
          if (range.file == file && range.first != isa::kZeroRegister)
            most = std::max(most, range.first + std::max<int>(range.count, kWidestTuple));
        }
      }
    }
    return std::min(most + 1, 256);
  }

  // Reduces the box to the CTAs that take the path of its corner.
  Expected<void> follow_box(Box& box) {
    for (;;) {
      try {
        follow_corner(box);
        return {};
      } catch (const NotLinear& decision) {
        bool cut = false;
        for (size_t v = 0; v < 3; ++v) {
          const auto bit = static_cast<uint8_t>(1U << v);
          if ((decision.variables & bit) == 0 || box.extent[v] == 1 || (box.alone & bit) != 0) continue;
          cut = true;
          if ((box.sampled & bit) != 0) {
            box.alone |= bit;
          } else {
            not_linear_ |= bit;
            box.extent[v] = 1;
          }
        }
        if (!cut) throw std::logic_error("a CTA alone in its box decides by its index");
      } catch (const UnknownValue& value) {
        if (const auto loop = lost_in(value)) {
          if (literal_.insert(*loop).second) continue;
        }
        return std::unexpected(with_others(unknown(value), box));
      } catch (const NotFollowed& refused) {
        const Op& op = ops_[static_cast<size_t>(refused.op)];
        return fail_at(file_, op.line, 1, escape::unquoted(op.instruction->mnemonic) + ": " + refused.message);
      } catch (const Unreadable& reached) {
        return std::unexpected(*ops_[static_cast<size_t>(reached.op)].unreadable);
      } catch (const EndlessLoop& loop) {
        return fail_at(
            file_, ops_[static_cast<size_t>(loop.op)].line, 1,
            "the loop here does not end, or goes round too often in a way that the importer cannot skip. If it waits for "
            "another warp or CTA, answer for the branch that leaves it: answer { line: N taken: 1 }");
      }
    }
  }

  std::optional<int> lost_in(const UnknownValue& value) const {
    if (value.origin > kLost) return std::nullopt;
    return kLost - value.origin;
  }

  // Appends the number of questions, and returns all questions if requested.
  Diagnostic with_others(Diagnostic first, const Box& box) {
    const std::vector<std::string> lines = question_lines(survey(box), ops_, launch_);
    const auto asked = std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("answer"); });
    if (asked > 1) first.message += "; the first of " + std::to_string(asked) + " questions, which warpfold import lists";
    if (questions_ != nullptr) *questions_ = lines;
    return first;
  }

  // Returns every question that the warps of the box's first CTA meet in any direction.
  std::vector<Question> survey(const Box& box) {
    constexpr uint64_t kMostInstructions = 200'000;  // per warp
    const Limits limits{.instructions = std::min(limits_.instructions, kMostInstructions), .passes = limits_.passes, .ctas = 1};
    std::vector<Question> questions;
    for (uint32_t index = 0; index < launch_.warps(); ++index) {
      for (bool again = true; again;) {
        again = false;
        Warp warp(launch_, first_cta(box), index, registers_, uniform_registers_);
        std::fill_n(warp.extents.begin(), kCtaVariables, 1);
        warp.survey = &questions;
        try {
          Follower(ops_, flow_, warp, literal_, limits).follow(lanes_of_warp(index));
        } catch (const UnknownValue& value) {
          const auto loop = lost_in(value);
          again = loop && literal_.insert(*loop).second;
        } catch (const NotFollowed&) {
          // Later questions are asked after this is corrected.
        } catch (const Unreadable&) {
          // As above.
        } catch (const EndlessLoop&) {
          // As above.
        }
      }
    }
    return questions;
  }

  std::array<uint32_t, 3> first_cta(const Box& box) const {
    std::array<uint32_t, 3> cta{};
    for (size_t d = 0; d < cta.size(); ++d) cta[d] = (box.corner[d] + box.drawn[d]) * launch_.cluster[d] + box.place[d];
    return cta;
  }

  uint32_t lanes_of_warp(uint32_t index) const {
    const uint32_t threads = std::min<uint32_t>(kLanes, launch_.threads() - index * kLanes);
    return threads == kLanes ? kAllLanes : (1U << threads) - 1;
  }

  Diagnostic unknown(const UnknownValue& value) const {
    const Op& op = ops_[static_cast<size_t>(value.op)];
    const bool memory = op.behaviour == isa::Behaviour::kLoadGlobal || op.behaviour == isa::Behaviour::kStoreGlobal ||
                        op.behaviour == isa::Behaviour::kCopyAsync;
    const bool guarded = op.instruction->guard.present && op.behaviour != isa::Behaviour::kBranch;
    if (is_texture(op) && value.origin == op.index) {
      return {file_, op.line, 1,
              op.instruction->mnemonic +
                  ": where a texture or surface lies in memory only the driver knows. Say how many sectors of 32 "
                  "bytes a warp touches here: answer { line: " +
                  std::to_string(op.line) + " sectors: N }"};
    }
    std::string text = op.instruction->mnemonic;
    text += !op.indirect.empty()                      ? ": where it leads hangs on "
            : op.behaviour == isa::Behaviour::kBranch ? ": whether it is taken hangs on "
                                                      : ": its guard or address hangs on ";
    if (value.origin < 0) {
      text += "a register that nothing has written";
    } else {
      const Op& origin = ops_[static_cast<size_t>(value.origin)];
      text += escape::unquoted(origin.instruction->mnemonic) + " in line " + std::to_string(origin.line) +
              ", which the listing does not know";
      if (std::ranges::any_of(origin.sources, [](const Source& source) { return source.text == "SR_SWINHI"; })) {
        text += ": it is in shared memory of the cluster, which loads and stores are not followed into";
      } else if (const std::string constant = unknown_constant(origin, launch_); !constant.empty()) {
        text += ": " + constant + (narrow_parameters() ? "; a char has bytes: 1, a short bytes: 2" : "");
      } else {
        text += ". Say what it loads: answer { line: " + std::to_string(origin.line) + " value: N }";
      }
    }
    if (!op.indirect.empty()) return {file_, op.line, 1, text};
    // No answer can state which mbarrier or box an instruction uses.
    const bool asynchronous = uses_mbarrier(op) || op.behaviour == isa::Behaviour::kBulkStore;
    if (asynchronous && !guarded) return {file_, op.line, 1, text};
    const std::string line = std::to_string(op.line);
    text += memory && !guarded ? ", or what this touches: answer { line: " + line + " sectors: N }"
                               : ", or how often this is taken: answer { line: " + line + " taken: N of: M }";
    return {file_, op.line, 1, text};
  }

  // True if the code reads parameters of one or two bytes.
  bool narrow_parameters() const {
    return std::ranges::any_of(ops_, [](const Op& op) {
      const bool constant =
          std::ranges::any_of(op.sources, [](const Source& source) { return source.kind == Source::Kind::kConstant; });
      return constant && Narrow::of_modifiers(op).bytes < 4;
    });
  }

  void follow_corner(Box& box) {
    CtaBox result{box.place, box.corner, {}, {}, box.sampled != 0};
    const std::array<uint32_t, 3> cta = first_cta(box);
    std::vector<WarpTouch> touches;
    Extents extents = kNoLimit;
    for (size_t v = 0; v < 3; ++v) extents[v] = (box.alone >> v & 1) != 0 ? 1 : box.extent[v];
    uint64_t issued = 0;
    for (uint32_t index = 0; index < launch_.warps(); ++index) {
      Warp warp(launch_, cta, index, registers_, uniform_registers_);
      warp.extents = extents;
      warp.sampled = box.sampled;
      Follower follower(ops_, flow_, warp, literal_, limits_);
      Path path = follower.follow(lanes_of_warp(index));
      extents = warp.extents;
      found_.assumed.insert(warp.assumed.begin(), warp.assumed.end());
      for (Touch& touch : follower.take_touches()) touches.push_back({index, std::move(touch)});
      found_.executed += follower.executed();
      issued += issued_on(path);
      result.paths.push_back(intern(std::move(path)));
    }
    ++found_.followed_ctas;
    for (size_t v = 0; v < 3; ++v) {
      if ((box.alone >> v & 1) == 0) box.extent[v] = extents[v];
    }
    result.extent = box.extent;
    if (box.sampled != 0) {
      const auto others = static_cast<uint8_t>(kAllDimensions & ~box.sampled);
      found_.strata.push_back({product_of(box.extent, box.sampled), product_of(box.extent, others), issued});
    }
    found_.boxes.push_back(std::move(result));
    for (WarpTouch& each : touches) add_touch(each, box);
  }

  void add_touch(WarpTouch& each, const Box& box) {
    Touch& touch = each.touch;
    if (touch.array < 0) return;
    const Op& op = ops_[static_cast<size_t>(touch.op)];
    const access::Kind kind = access_kind(op);
    // TMA omits the part of a box beyond its tensor.
    const bool clipped = op.behaviour == isa::Behaviour::kBulkLoad || op.behaviour == isa::Behaviour::kBulkStore;
    const auto array = static_cast<size_t>(touch.array);
    std::array<uint32_t, 3> sure = box.extent;  // CTAs in which the touch certainly occurs
    for (size_t v = 0; v < 3; ++v) {
      if ((box.sampled >> v & 1) != 0) sure[v] = 1;
    }
    if (!clipped) found_.reach[array].extend(reach_of(touch, sure, launch_.arrays[array].address));
    move_to_corner(touch, box);
    add_traffic(touch, kind, box.extent);
    add_access(each, kind, box.extent);
  }

  // Moves a touch from the drawn CTA to the first CTA of its stratum.
  static void move_to_corner(Touch& touch, const Box& box) {
    touch.varies |= box.alone;
    for (int v = 0; v < kCtaVariables; ++v) {
      const auto variable = static_cast<size_t>(v);
      if (touch.moves_otherwise(v)) continue;
      for (uint64_t& lane : touch.lanes) lane -= static_cast<uint64_t>(touch.slope[variable]) * box.drawn[variable];
    }
  }

  void add_traffic(const Touch& touch, access::Kind kind, const std::array<uint32_t, 3>& ctas) {
    const ArrayTraffic traffic = traffic_of(touch, ctas);
    ArrayTraffic& of_array = found_.traffic[static_cast<size_t>(touch.array)][static_cast<size_t>(kind)];
    of_array.requested += traffic.requested;
    of_array.random += traffic.random;
    of_array.touched += traffic.touched;
  }

  void add_access(const WarpTouch& each, access::Kind kind, const std::array<uint32_t, 3>& ctas) {
    if (found_.accesses.size() == kMostAccesses) {
      found_.all_accesses = false;
      return;
    }
    AccessPattern pattern = pattern_of(each.touch, ctas);
    pattern.box = static_cast<uint32_t>(found_.boxes.size() - 1);
    pattern.warp = each.warp;
    pattern.kind = kind;
    if (!pattern.runs.empty()) found_.accesses.push_back(std::move(pattern));
  }

  int intern(Path path) {
    std::vector<int>& alike = by_hash_[hash_of(path)];
    for (const int known : alike) {
      if (found_.paths[static_cast<size_t>(known)] == path) return known;
    }
    alike.push_back(static_cast<int>(found_.paths.size()));
    found_.paths.push_back(std::move(path));
    return alike.back();
  }

  // Pushes the part of `whole` outside `box`, which has the same corner: up to three boxes, x first.
  static void push_rest(const Box& whole, const Box& box, std::vector<Box>& open) {
    Box part = whole;
    for (const size_t v : {2U, 1U, 0U}) {
      if (box.extent[v] < part.extent[v]) {
        Box rest = part;
        rest.corner[v] += box.extent[v];
        rest.extent[v] -= box.extent[v];
        open.push_back(rest);
      }
      part.extent[v] = box.extent[v];
    }
  }

  const std::string& file_;
  const std::vector<Op>& ops_;
  const Flow& flow_;
  const LaunchFacts& launch_;
  const Limits& limits_;
  std::vector<std::string>* questions_;
  const ExploreProgress& progress_;
  int registers_;
  int uniform_registers_;
  std::set<int> literal_;
  std::unordered_map<uint64_t, std::vector<int>> by_hash_;  // paths; only for look-up
  uint8_t not_linear_ = 0;                                  // variables on which a path depends otherwise than linearly
  uint8_t sampling_ = 0;                                    // variables of which a sample is executed
  uint64_t followed_before_ = 0;                            // CTAs before sampling began
  uint64_t represented_ = 0;                                // CTAs
  Exploration found_;
};

}  // namespace

void keep_used_paths(Exploration& found) {
  std::vector<int> number(found.paths.size(), -1);
  std::vector<Path> used;
  for (CtaBox& box : found.boxes) {
    for (int& path : box.paths) {
      int& as = number[static_cast<size_t>(path)];
      if (as < 0) {
        as = static_cast<int>(used.size());
        used.push_back(std::move(found.paths[static_cast<size_t>(path)]));
      }
      path = as;
    }
  }
  found.paths = std::move(used);
}

Expected<Exploration> explore(const std::string& file, const std::vector<Op>& ops, const Flow& flow, const LaunchFacts& launch,
                              const Limits& limits, std::vector<std::string>* questions, const ExploreProgress& progress) {
  return Explorer(file, ops, flow, launch, limits, questions, progress).explore();
}

}  // namespace warpfold::sass
