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

#include "configs/read_file.h"
#include "sim/engine/interrupt.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/render/output.h"

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
  std::error_code error;
  std::filesystem::create_directories(folder_of(plan), error);
  if (error) return user_error("cannot make the folder \"" + folder_of(plan) + "\": " + error.message());
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
  std::filesystem::remove(folder_ + "/claims", ignored);  // if it is empty
}

// So many of the points behind `begin` that are not there that they take as long as a claim may, and no more than a quarter of the
// workers' share of what is left, so that all end at about the same time.
size_t PointStore::claim_end(const std::vector<std::string>& keys, size_t begin, unsigned threads) const {
  const std::optional<double> mean = log_.mean_milliseconds();
  const size_t workers = presence_->count() * threads;
  const size_t share = (keys.size() - begin) / (4 * workers);
  const double by_time = mean ? kClaimMilliseconds / std::max(*mean, 0.01) : 1;
  size_t wanted = std::clamp<size_t>(share, 1, std::max<size_t>(static_cast<size_t>(by_time), 1));
  size_t end = begin;
  for (; end < keys.size() && wanted > 0; ++end) wanted -= log_.has(keys[end]) ? 0 : 1;
  while (end < keys.size() && log_.has(keys[end])) ++end;
  return end;
}

Outcome<void> PointStore::finish(const std::vector<std::string>& keys, unsigned threads, Others others, const Simulate& simulate,
                                 const Watch& watch) {
  const auto missing = [&](size_t point) { return !log_.has(keys[point]); };
  const auto count_done = [&] {
    return static_cast<size_t>(std::ranges::count_if(keys, [&](const auto& key) { return log_.has(key); }));
  };
  std::atomic<size_t> done = count_done();
  watch(done);
  if (done == keys.size()) return {};
  const auto plan = write_plan(keys);
  if (!plan) return std::unexpected(plan.error());
  ClaimChain chain(folder_of(*plan), *presence_, keys.size());
  std::atomic<bool> stop{false};
  std::mutex looking;
  auto looked = steady_clock::now();
  // What the others have recorded, at most once a second.
  const auto look = [&] {
    constexpr std::chrono::seconds kBetweenLooks{1};
    const std::lock_guard lock(looking);
    if (steady_clock::now() - looked < kBetweenLooks) return;
    log_.refresh();
    watch(done = count_done());
    looked = steady_clock::now();
  };

  const auto work = [&]() -> Outcome<void> {
    while (!stop) {
      sim::stop_if_wanted();
      look();
      auto claimed = chain.next([&](size_t begin) { return claim_end(keys, begin, threads); });
      if (claimed && !*claimed) {
        log_.refresh();
        claimed = chain.take_over([&](const PointRange& range) {
          for (size_t point = range.begin; point < range.end; ++point) {
            if (missing(point)) return true;
          }
          return false;
        });
      }
      if (!claimed) {
        // Another process that found all points there has removed the plan.
        log_.refresh();
        if (count_done() == keys.size()) return {};
        return std::unexpected(claimed.error());
      }
      if (!*claimed) {
        watch(done = count_done());
        if (done == keys.size() || others == Others::kLeave) return {};
        constexpr std::chrono::milliseconds kPause{200};
        std::this_thread::sleep_for(kPause);
        continue;
      }
      for (size_t point = (*claimed)->begin; point < (*claimed)->end && !stop; ++point) {
        if (!missing(point)) continue;
        const auto start = steady_clock::now();
        const auto made = simulate(point);
        if (!made) return std::unexpected(made.error());
        if (auto saved = log_.append(keys[point], milliseconds_since(start), *made); !saved) return saved;
        watch(++done);
      }
    }
    return {};
  };

  std::vector<Outcome<void>> ended(threads);
  std::vector<std::exception_ptr> thrown(threads);
  const auto run = [&](size_t thread) {
    try {
      ended[thread] = work();
      if (!ended[thread]) stop = true;
    } catch (...) {
      thrown[thread] = std::current_exception();
      stop = true;
    }
  };
  {
    std::vector<std::jthread> more;
    for (size_t thread = 1; thread < threads; ++thread) more.emplace_back(run, thread);
    run(0);
  }
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
  for (const Outcome<void>& each : ended) {
    if (!each) return each;
  }
  return {};
}

}  // namespace warpfold::cli
