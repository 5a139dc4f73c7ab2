#include "tools/warpfold/store/point_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "configs/read_file.h"
#include "sim/engine/interrupt.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/render/output.h"
#include "tools/warpfold/store/point_claims.h"

namespace warpfold::cli {

namespace {

using std::chrono::steady_clock;

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
  std::unique_ptr<PointStore> store(new PointStore(folder));
  if (auto opened = store->log_.open(); !opened) return std::unexpected(opened.error());
  return store;
}

Outcome<std::string> PointStore::write_plan(const std::vector<std::string>& keys) const {
  const std::string text = text_of(keys);
  const std::string plan = content_hash(text);
  if (auto made = make_folder(claims_); !made) return std::unexpected(made.error());
  if (auto written = write_output(claims_ + "/" + plan + ".keys", text); !written) return std::unexpected(written.error());
  return plan;
}

Outcome<std::vector<std::string>> PointStore::read_plan(const std::string& plan) const {
  const auto text = read_file(claims_ + "/" + plan + ".keys");
  if (!text) return std::unexpected(Failure(text.error()));
  std::vector<std::string> keys;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) keys.push_back(line);
  return keys;
}

void PointStore::forget_plan(const std::vector<std::string>& keys) const {
  const std::string plan = claims_ + "/" + content_hash(text_of(keys));
  std::error_code ignored;
  std::filesystem::remove(plan, ignored);
  std::filesystem::remove(plan + ".keys", ignored);
  std::filesystem::remove(claims_, ignored);  // fails unless the folder is empty
}

// The work of one process on a plan.
class PointStore::Work {
 public:
  Work(PointStore& store, const std::vector<std::string>& keys, unsigned threads, const Simulate& simulate, const Watch& watch)
      : store_(store), log_(store.log_), keys_(keys), threads_(threads), simulate_(simulate), watch_(watch) {}

  bool complete() { return recount() == keys_.size(); }

  Outcome<void> run(Others others) {
    std::vector<Outcome<void>> ended(threads_);
    std::vector<std::exception_ptr> thrown(threads_);
    const auto take_turns = [&](size_t thread) {
      try {
        ended[thread] = work(others);
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

  Outcome<PointClaims> open_claims() const {
    if (auto made = make_folder(store_.claims_); !made) return std::unexpected(made.error());
    return PointClaims::open(store_.claims_ + "/" + content_hash(text_of(keys_)));
  }

  // Runs in each thread: claims points and simulates them until none is left. The log is read again after the claim, because the
  // owner of an earlier claim may have recorded its points and released them since the previous read.
  Outcome<void> work(Others others) {
    const auto claims = open_claims();
    if (!claims) {
      // Another process that found the plan complete may have removed the folder.
      log_.refresh();
      return complete() ? Outcome<void>() : std::unexpected(claims.error());
    }
    size_t begin = 0;
    bool from_first = true;  // no point has been simulated since `begin` was 0
    while (!stop_) {
      sim::stop_if_wanted();
      look();
      begin = missing_from(begin);
      if (const auto claimed = claims->claim(begin, keys_.size(), claim_size(begin))) {
        log_.refresh();
        if (missing_from(claimed->begin) < claimed->end) from_first = false;
        const auto simulated = simulate(*claimed);
        claims->release(*claimed);
        if (!simulated) return simulated;
        begin = claimed->end;
        continue;
      }
      if (from_first) {
        if (complete() || others == Others::kLeave) return {};
        constexpr std::chrono::milliseconds kPause{200};
        std::this_thread::sleep_for(kPause);
      }
      begin = 0;
      from_first = true;
    }
    return {};
  }

  size_t missing_from(size_t begin) const {
    const auto missing = std::find_if(keys_.begin() + static_cast<std::ptrdiff_t>(begin), keys_.end(),
                                      [&](const std::string& key) { return !log_.has(key); });
    return static_cast<size_t>(missing - keys_.begin());
  }

  // Returns the number of points of a claim. It is at most a quarter of a thread's share of the remaining points, so that all
  // threads end at about the same time.
  size_t claim_size(size_t begin) const {
    constexpr uint64_t kClaimMilliseconds = 500;
    const size_t share = (keys_.size() - begin) / (4 * threads_);
    const size_t by_time = simulated_ == 0 ? 1 : kClaimMilliseconds * simulated_ / std::max<uint64_t>(milliseconds_, 1);
    return std::max<size_t>(std::min(share, by_time), 1);
  }

  Outcome<void> simulate(const PointRange& claimed) {
    for (size_t point = claimed.begin; point < claimed.end && !stop_; ++point) {
      if (log_.has(keys_[point])) continue;
      const auto start = steady_clock::now();
      const auto made = simulate_(point);
      if (!made) return std::unexpected(made.error());
      const uint64_t took = milliseconds_since(start);
      milliseconds_ += took;
      ++simulated_;
      const std::lock_guard lock(recording_);  // a recount sees both the record and its count, or neither
      if (auto saved = log_.append(keys_[point], took, *made); !saved) return saved;
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
  std::atomic<uint64_t> milliseconds_{0};  // of the points that this process has simulated
  std::atomic<uint64_t> simulated_{0};
  std::mutex recording_;
  size_t done_ = 0;
  std::mutex looking_;
  steady_clock::time_point looked_ = steady_clock::now();
};

Outcome<void> PointStore::finish(const std::vector<std::string>& keys, unsigned threads, Others others, const Simulate& simulate,
                                 const Watch& watch) {
  Work work(*this, keys, threads, simulate, watch);
  return work.complete() ? Outcome<void>() : work.run(others);
}

}  // namespace warpfold::cli
