#include "sim/engine/team.h"

#include <algorithm>

namespace warpfold::sim {

Team::Team(unsigned threads) {
  for (unsigned t = 1; t < threads; ++t) helpers_.emplace_back([this] { help(); });
}

Team::~Team() {
  over_ = true;
  ++round_;
  round_.notify_all();
}

void Team::help() {
  uint32_t seen = 0;
  while (true) {
    round_.wait(seen);
    seen = round_;
    if (over_) return;
    take_calls();
    if (--busy_ == 0) busy_.notify_one();
  }
}

void Team::take_calls() {
  for (size_t i = next_++; i < count_; i = next_++) {
    try {
      (*work_)(i);
    } catch (...) {
      thrown_[i] = std::current_exception();
    }
  }
}

void Team::for_each(size_t count, const std::function<void(size_t)>& work) {
  work_ = &work;
  count_ = count;
  thrown_.assign(count, nullptr);
  next_ = 0;
  busy_ = static_cast<uint32_t>(helpers_.size());
  if (!helpers_.empty()) {
    ++round_;
    round_.notify_all();
  }
  take_calls();
  for (uint32_t busy = busy_; busy > 0; busy = busy_) busy_.wait(busy);
  const auto thrown = std::ranges::find_if(thrown_, [](const auto& each) { return each != nullptr; });
  if (thrown != thrown_.end()) std::rethrow_exception(*thrown);
}

}  // namespace warpfold::sim
