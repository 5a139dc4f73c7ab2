#include "tools/warpfold/store/point_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/read_file.h"
#include "sim/engine/interrupt.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

namespace {

using std::chrono::steady_clock;

constexpr double kClaimMilliseconds = 2000;

std::string text_of(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += key + "\n";
  return text;
}

uint64_t milliseconds_since(steady_clock::time_point start) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start).count());
}

}  // namespace

Outcome<std::unique_ptr<PointStore>> PointStore::open(const std::string& folder) {
  auto presence = Presence::announce(folder + "/workers");
  if (!presence) return std::unexpected(presence.error());
  std::unique_ptr<PointStore> store(new PointStore(folder, std::move(*presence)));
  if (auto opened = store->log_.open(); !opened) return std::unexpected(opened.error());
  return store;
}

PointStore::PointStore(std::string folder, std::unique_ptr<Presence> presence)
    : folder_(std::move(folder)), presence_(std::move(presence)), log_(folder_, presence_->name()) {}

Outcome<std::string> PointStore::write_plan(const std::vector<std::string>& keys) const {
  const std::string text = text_of(keys);
  const std::string plan = content_hash(text);
  if (auto made = make_folder(folder_of(plan)); !made) return std::unexpected(made.error());
  if (auto written = write_output(folder_of(plan) + "/plan", text); !written) return std::unexpected(written.error());
  return plan;
}

Outcome<std::vector<std::string>> PointStore::read_plan(const std::string& plan) const {
  const auto text = read_file(folder_of(plan) + "/plan");
  if (!text) return std::unexpected(Failure(text.error()));
  std::vector<std::string> keys;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) keys.push_back(line);
  return keys;
}

void PointStore::forget_plan(const std::vector<std::string>& keys) const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_of(content_hash(text_of(keys))), ignored);
  std::filesystem::remove(folder_ + "/claims", ignored);  // fails unless the folder is empty
}

// The work of one process on a plan.
class PointStore::Work {
 public:
  Work(PointStore& store, const std::vector<std::string>& keys, unsigned threads, const Simulate& simulate, const Watch& watch)
      : store_(store), log_(store.log_), keys_(keys), threads_(threads), simulate_(simulate), watch_(watch) {}

  bool complete() { return recount() == keys_.size(); }

  Outcome<void> run(ClaimChain& chain, Others others) {
    std::vector<Outcome<void>> ended(threads_);
    std::vector<std::exception_ptr> thrown(threads_);
    const auto take_turns = [&](size_t thread) {
      try {
        ended[thread] = take_claims(chain, others);
        if (!ended[thread]) stop_ = true;
      } catch (...) {
        thrown[thread] = std::current_exception();
        stop_ = true;
      }
    };
    {
      std::vector<std::jthread> more;
      for (size_t thread = 1; thread < threads_; ++thread) more.emplace_back(take_turns, thread);
      take_turns(0);
    }
    for (const std::exception_ptr& each : thrown) {
      if (each) std::rethrow_exception(each);
    }
    const auto failed = std::ranges::find_if(ended, [](const Outcome<void>& each) { return !each; });
    return failed == ended.end() ? Outcome<void>() : *failed;
  }

 private:
  size_t recount() {
    const std::lock_guard lock(recording_);
    done_ = static_cast<size_t>(std::ranges::count_if(keys_, [&](const std::string& key) { return log_.has(key); }));
    watch_(done_);
    return done_;
  }

  bool unfinished(const PointRange& range) const {
    return std::any_of(keys_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       keys_.begin() + static_cast<std::ptrdiff_t>(range.end),
                       [&](const std::string& key) { return !log_.has(key); });
  }

  // Runs in each thread: claims points and simulates them until none is left.
  Outcome<void> take_claims(ClaimChain& chain, Others others) {
    while (!stop_) {
      sim::stop_if_wanted();
      look();
      const auto claimed = claim(chain);
      if (!claimed) {
        // Another process that found the plan complete may have removed it.
        log_.refresh();
        return complete() ? Outcome<void>() : std::unexpected(claimed.error());
      }
      if (*claimed) {
        if (auto simulated = simulate(**claimed); !simulated) return simulated;
        continue;
      }
      if (complete() || others == Others::kLeave) return {};
      constexpr std::chrono::milliseconds kPause{200};
      std::this_thread::sleep_for(kPause);
    }
    return {};
  }

  // Claims points that no process has claimed; if none are left, takes over the points of a process that has ended. The log is read
  // again after the claim, because the owner of an earlier claim may have recorded its last points and ended since the previous
  // read.
  Outcome<std::optional<PointRange>> claim(ClaimChain& chain) {
    auto claimed = chain.next([&](size_t begin) { return claim_end(begin); });
    if (claimed && !*claimed) {
      log_.refresh();
      claimed = chain.take_over([&](const PointRange& range) { return unfinished(range); });
    }
    if (claimed && *claimed) log_.refresh();
    return claimed;
  }

  // Returns the end of a claim that starts at `begin`. The claim covers missing points for at most the time of one claim. A claim
  // is also at most a quarter of a worker's share of the remaining points, so that all workers end at about the same time.
  size_t claim_end(size_t begin) const {
    const std::optional<double> mean = log_.mean_milliseconds();
    const size_t workers = store_.presence_->count() * threads_;
    const size_t share = (keys_.size() - begin) / (4 * workers);
    const double by_time = mean ? kClaimMilliseconds / std::max(*mean, 0.01) : 1;
    size_t wanted = std::clamp<size_t>(share, 1, std::max<size_t>(static_cast<size_t>(by_time), 1));
    size_t end = begin;
    for (; end < keys_.size() && wanted > 0; ++end) wanted -= log_.has(keys_[end]) ? 0 : 1;
    while (end < keys_.size() && log_.has(keys_[end])) ++end;
    return end;
  }

  Outcome<void> simulate(const PointRange& claimed) {
    for (size_t point = claimed.begin; point < claimed.end && !stop_; ++point) {
      if (log_.has(keys_[point])) continue;
      const auto start = steady_clock::now();
      const auto made = simulate_(point);
      if (!made) return std::unexpected(made.error());
      const std::lock_guard lock(recording_);  // a recount sees both the record and its count, or neither
      if (auto saved = log_.append(keys_[point], milliseconds_since(start), *made); !saved) return saved;
      watch_(++done_);
    }
    return {};
  }

  // Reads the records of other processes, at most once a second.
  void look() {
    constexpr std::chrono::seconds kBetweenLooks{1};
    const std::lock_guard lock(looking_);
    if (steady_clock::now() - looked_ < kBetweenLooks) return;
    log_.refresh();
    recount();
    looked_ = steady_clock::now();
  }

  PointStore& store_;
  PointLog& log_;
  const std::vector<std::string>& keys_;
  unsigned threads_;
  const Simulate& simulate_;
  const Watch& watch_;
  std::atomic<bool> stop_{false};
  std::mutex recording_;
  size_t done_ = 0;
  std::mutex looking_;
  steady_clock::time_point looked_ = steady_clock::now();
};

Outcome<void> PointStore::finish(const std::vector<std::string>& keys, unsigned threads, Others others, const Simulate& simulate,
                                 const Watch& watch) {
  Work work(*this, keys, threads, simulate, watch);
  if (work.complete()) return {};
  const auto plan = write_plan(keys);
  if (!plan) return std::unexpected(plan.error());
  ClaimChain chain(folder_of(*plan), *presence_, keys.size());
  return work.run(chain, others);
}

}  // namespace warpfold::cli
