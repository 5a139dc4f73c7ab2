#include "traces/import/cluster_signals.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "configs/escape/quoted.h"
#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

// Arrivals or loads of one instruction at one mbarrier.
struct Signal {
  int op;
  int32_t mbarrier;
  uint32_t lanes;
  uint32_t reaches;
  bool expects;  // expects bytes
  auto operator<=>(const Signal&) const = default;
};
using Signals = std::map<Signal, uint64_t>;  // number of each signal

// Box that another CTA of the cluster sends: its load, and the number of boxes per arrival that expects bytes.
struct Received {
  int32_t mbarrier;
  Step load;
  uint64_t each_time;
};

struct Changes {
  std::vector<Received> received;
  std::map<std::pair<int, int32_t>, bool> sent;  // loads, by instruction and mbarrier, whose copies count for one CTA
  bool any() const { return !received.empty() || !sent.empty(); }
};

class Settler {
 public:
  Settler(const std::string& file, const std::vector<Op>& ops, const LaunchFacts& launch, Exploration& found)
      : file_(file), ops_(ops), found_(found), places_(launch.places_in_cluster()) {}

  Expected<void> settle() {
    const std::vector<CtaBox> boxes = found_.boxes;
    for (const Path& path : found_.paths) {
      of_path_.emplace_back();
      count(path, 1, of_path_.back());
    }
    for (size_t i = 0; i < boxes.size(); ++i) {
      const std::vector<const CtaBox*> peers = peers_of(boxes, boxes[i], boxes[i].corner);
      if (!std::ranges::equal(peers, peers_of(boxes, boxes[i], last_of(boxes[i])), {}, &CtaBox::paths, &CtaBox::paths)) {
        return fail_at(
            file_, ops_.front().line, 1,
            "the CTAs of a cluster take different paths, and not the same ones in all clusters; import a grid whose clusters "
            "are alike");
      }
      if (std::ranges::all_of(peers, [&](const CtaBox* peer) { return peer->paths == boxes[i].paths; })) continue;
      auto changes = changes_of(peers, rank_of(boxes[i]));
      if (!changes) return std::unexpected(changes.error());
      if (!changes->any()) continue;
      for (int& path : found_.boxes[i].paths) path = changed(path, *changes);
    }
    return {};
  }

 private:
  bool loads(int op) const { return ops_[static_cast<size_t>(op)].behaviour == Behaviour::kBulkLoad; }
  bool arrives(int op) const { return ops_[static_cast<size_t>(op)].behaviour == Behaviour::kMbarrierArrive; }

  std::unexpected<Diagnostic> fail(int op, const std::string& message) const {
    const Op& at = ops_[static_cast<size_t>(op)];
    return fail_at(file_, at.line, 1, escape::unquoted(at.instruction->mnemonic) + ": " + message);
  }

  size_t rank_of(const CtaBox& box) const { return static_cast<size_t>(std::ranges::find(places_, box.place) - places_.begin()); }

  void count(const Path& path, uint64_t times, Signals& signals) {
    for (const PathNode& node : path) {
      if (const auto* loop = std::get_if<PathLoop>(&node)) {
        count(loop->body, times * loop->trips, signals);
        continue;
      }
      for (const Step& step : std::get<std::vector<Step>>(node)) {
        if (step.mbarrier.address < 0 || (!loads(step.op) && !arrives(step.op))) continue;
        if (loads(step.op)) load_of_.emplace(step.op, step);
        signals[{step.op, step.mbarrier.address, step.mbarrier.value, step.mbarrier.reaches, step.effect.tx_bytes > 0}] += times;
      }
    }
  }

  // Returns the boxes of all CTAs of a cluster, by rank.
  std::vector<const CtaBox*> peers_of(const std::vector<CtaBox>& boxes, const CtaBox& of,
                                      const std::array<uint32_t, 3>& cluster) const {
    std::vector<const CtaBox*> peers;
    for (const std::array<uint32_t, 3>& place : places_) {
      const auto holds = [&](const CtaBox& box) {
        for (size_t d = 0; d < 3; ++d) {
          if (cluster[d] < box.corner[d] || cluster[d] - box.corner[d] >= box.extent[d]) return false;
        }
        return box.place == place;
      };
      peers.push_back(of.place == place ? &of : &*std::ranges::find_if(boxes, holds));
    }
    return peers;
  }

  static std::array<uint32_t, 3> last_of(const CtaBox& box) {
    std::array<uint32_t, 3> last{};
    for (size_t d = 0; d < 3; ++d) last[d] = box.corner[d] + box.extent[d] - 1;
    return last;
  }

  Signals signals_of(const CtaBox& box) const {
    Signals all;
    for (const int path : box.paths) {
      for (const auto& [signal, times] : of_path_[static_cast<size_t>(path)]) all[signal] += times;
    }
    return all;
  }

  // Returns how the path of the CTA of `rank` changes.
  Expected<Changes> changes_of(const std::vector<const CtaBox*>& peers, size_t rank) const {
    std::vector<Signals> signals;
    for (const CtaBox* peer : peers) signals.push_back(signals_of(*peer));
    if (auto checked = check_arrivals(signals); !checked) return std::unexpected(checked.error());
    Changes changes;
    for (size_t sender = 0; sender < signals.size(); ++sender) {
      for (const auto& [signal, times] : signals[sender]) {
        if (!loads(signal.op) || all_send(signals, signal, times)) continue;
        const isa::Effect& box = load_of_.at(signal.op).effect;
        if (box.bytes / box.multicast % box.multicast != 0) {
          return fail(signal.op, "a box of " + std::to_string(box.bytes / box.multicast) +
                                     " bytes, which some CTAs of the cluster send to " + std::to_string(box.multicast) +
                                     " CTAs, does not divide evenly among its receivers");
        }
        if (sender == rank) {
          changes.sent[{signal.op, signal.mbarrier}] = true;
        } else if ((signal.reaches >> (sender ^ rank) & 1) != 0) {
          auto received = received_by(signals[rank], signal, times, rank);
          if (!received) return std::unexpected(received.error());
          changes.received.push_back(*received);
        }
      }
    }
    return changes;
  }

  // Fails if a CTA receives more or fewer arrivals at an mbarrier than it sends.
  Expected<void> check_arrivals(const std::vector<Signals>& signals) const {
    std::map<int32_t, std::vector<int64_t>> surplus;
    for (size_t rank = 0; rank < signals.size(); ++rank) {
      for (const auto& [signal, times] : signals[rank]) {
        if (!arrives(signal.op)) continue;
        std::vector<int64_t>& at = surplus.try_emplace(signal.mbarrier, signals.size(), 0).first->second;
        const auto each = static_cast<int64_t>(times * signal.lanes / static_cast<uint32_t>(std::popcount(signal.reaches)));
        for (size_t i = 0; i < 16; ++i) {
          if ((signal.reaches >> i & 1) == 0) continue;
          at[rank ^ i] += each;
          at[rank] -= each;
        }
      }
    }
    for (const Signals& of_rank : signals) {
      for (const auto& [signal, times] : of_rank) {
        const auto at = surplus.find(signal.mbarrier);
        if (!arrives(signal.op) || at == surplus.end() || std::ranges::count(at->second, 0) == std::ssize(at->second)) continue;
        return fail(signal.op,
                    "the CTAs of a cluster arrive at each other's mbarriers different numbers of times, which the trace language "
                    "does not express");
      }
    }
    return {};
  }

  static bool all_send(const std::vector<Signals>& signals, const Signal& signal, uint64_t times) {
    return signal.reaches == 1 || std::ranges::all_of(signals, [&](const Signals& of_rank) {
             const auto same = of_rank.find(signal);
             return same != of_rank.end() && same->second == times;
           });
  }

  Expected<Received> received_by(const Signals& receiver, const Signal& signal, uint64_t times, size_t rank) const {
    uint64_t expected = 0;
    for (const auto& [own, count] : receiver)
      expected += arrives(own.op) && own.expects && own.mbarrier == signal.mbarrier ? count : 0;
    if (expected == 0 || times % expected != 0) {
      return fail(signal.op, "CTA " + std::to_string(rank) + " of a cluster receives " + std::to_string(times) +
                                 " boxes at an mbarrier that expects bytes " + std::to_string(expected) +
                                 " times; each time must have the same number of boxes");
    }
    Step load = load_of_.at(signal.op);
    load.effect.bytes /= load.effect.multicast;
    load.mbarrier = {.address = signal.mbarrier};
    return Received{signal.mbarrier, load, times / expected};
  }

  int changed(int path, const Changes& changes) {
    Path other = changed(found_.paths[static_cast<size_t>(path)], changes);
    const auto known = std::ranges::find(found_.paths, other);
    if (known != found_.paths.end()) return static_cast<int>(known - found_.paths.begin());
    found_.paths.push_back(std::move(other));
    return static_cast<int>(found_.paths.size()) - 1;
  }

  Path changed(const Path& path, const Changes& changes) const {
    Path result;
    for (const PathNode& node : path) {
      if (const auto* loop = std::get_if<PathLoop>(&node)) {
        result.emplace_back(PathLoop{loop->trips, changed(loop->body, changes)});
        continue;
      }
      for (Step step : std::get<std::vector<Step>>(node)) {
        if (changes.sent.contains({step.op, step.mbarrier.address})) step.effect.bytes /= step.effect.multicast;
        add_step(result, step);
        if (!arrives(step.op) || step.effect.tx_bytes == 0) continue;
        for (const Received& received : changes.received) {
          for (uint64_t i = 0; i < received.each_time && received.mbarrier == step.mbarrier.address; ++i)
            add_step(result, received.load);
        }
      }
    }
    return result;
  }

  const std::string& file_;
  const std::vector<Op>& ops_;
  Exploration& found_;
  std::vector<std::array<uint32_t, 3>> places_;
  std::vector<Signals> of_path_;
  std::map<int, Step> load_of_;  // by instruction
};

}  // namespace

Expected<void> settle_cluster_signals(const std::string& file, const std::vector<Op>& ops, const LaunchFacts& launch,
                                      Exploration& found) {
  return launch.cluster_ctas() == 1 ? Expected<void>{} : Settler(file, ops, launch, found).settle();
}

}  // namespace warpfold::sass
