#include "sim/memory/fair_server.h"

#include <algorithm>

namespace warpfold::sim {

FairServer::FairServer(uint64_t numerator, uint64_t denominator, size_t lanes, size_t launches)
    : unit_(numerator, denominator), shift_(unit_.shift()), lanes_(lanes), asking_of_(launches, 0), held_(launches, 0) {
  for (Lane& lane : lanes_) lane.held.resize(launches);
}

void FairServer::held_by_others(size_t lane, std::vector<uint64_t>& into) const {
  const Lane& of = lanes_[lane];
  into = held_;
  for (size_t l = 0; l < into.size(); ++l) into[l] -= of.sms * of.held[l];
  if (!of.transfers.empty()) into[static_cast<size_t>(of.transfers.front().launch)] -= of.sms * (virtual_ - of.head_since);
}

// If `more`, adds the SMs of a lane to the asking SMs, otherwise removes them.
void FairServer::count_asking(const Lane& lane, bool more) {
  const auto launch = static_cast<size_t>(lane.transfers.front().launch);
  asking_ = more ? asking_ + lane.sms : asking_ - lane.sms;
  asking_of_[launch] = more ? asking_of_[launch] + lane.sms : asking_of_[launch] - lane.sms;
}

void FairServer::set_weight(size_t lane, uint64_t sms) {
  Lane& of = lanes_[lane];
  if (queued(lane)) count_asking(of, false);
  of.sms = sms;
  if (queued(lane)) count_asking(of, true);
  find_next();
}

void FairServer::copy_lane(size_t from, size_t to, uint64_t sms) {
  if (to == lanes_.size()) lanes_.emplace_back();
  lanes_[to] = lanes_[from];
  lanes_[to].sms = sms;
  if (queued(to)) {
    count_asking(lanes_[to], true);
    enter(to);
  }
  find_next();
}

Cycle FairServer::duration(size_t lane, uint64_t bytes) const {
  const Wide work = Wide{work_of(bytes)} * lanes_[lane].sms;
  return static_cast<Cycle>((work + (Wide{1} << shift_) - 1) >> shift_);
}

void FairServer::serve_until(Wide clock) {
  if (clock <= clock_) return;
  if (asking_ > 0) {
    const auto units = static_cast<uint64_t>(clock - clock_);
    for (size_t l = 0; l < held_.size(); ++l) {
      if (asking_of_[l] > 0) held_[l] += static_cast<uint64_t>(Wide{units} * asking_of_[l] / asking_);
    }
    const Wide served = Wide{units} + remainder_;
    virtual_ += static_cast<uint64_t>(served / asking_);
    remainder_ = static_cast<uint64_t>(served % asking_);
  }
  clock_ = clock;
}

void FairServer::advance(Cycle now) { serve_until(Wide{now} << shift_); }

uint64_t FairServer::work_while_idle(Cycle now, uint64_t work) {
  const Wide until = Wide{now} << shift_;
  if (asking_ > 0 || until <= clock_) return work;
  const Wide idle = until - clock_;
  clock_ = until;
  return idle >= work ? 0 : work - static_cast<uint64_t>(idle);
}

void FairServer::add(size_t lane, uint64_t work, uint32_t transfer, int launch) {
  Lane& of = lanes_[lane];
  const auto now = static_cast<Cycle>(clock_ >> shift_);
  if (of.transfers.empty()) {
    if (of.free_at < now) of.holders.clear();
    of.holders.hold(now, launch);
    of.finish = virtual_ + work;
    of.head_since = virtual_;
    of.transfers.push_back({of.finish, transfer, launch, now});
    if (asking_ == 0) remainder_ = 0;
    count_asking(of, true);
    enter(lane);
  } else {
    of.finish += work;
    of.transfers.push_back({of.finish, transfer, launch, now});
  }
  find_next();
}

void FairServer::move_on(Cycle by) {
  clock_ += Wide{by} << shift_;
  for (Lane& lane : lanes_) {
    lane.free_at += by;
    for (QueuedTransfer& each : lane.transfers) each.start += by;
    lane.holders.move_on(by);
  }
  if (next_ != kNever) next_ += by;
}

// If both pass at the same time, the lower index passes first.
bool FairServer::passes_later(size_t lane, size_t other) const {
  const uint64_t one = lanes_[lane].transfers.front().finish;
  const uint64_t two = lanes_[other].transfers.front().finish;
  return one != two ? one > two : lane > other;
}

void FairServer::enter(size_t lane) {
  order_.push_back(lane);
  std::ranges::push_heap(order_, [this](size_t a, size_t b) { return passes_later(a, b); });
}

void FairServer::find_next() {
  next_ = kNever;
  if (order_.empty()) return;
  const uint64_t least = lanes_[order_.front()].transfers.front().finish;
  const Wide left = Wide{least - virtual_} * asking_;
  const Wide at = clock_ + (left > remainder_ ? left - remainder_ : 0);
  next_ = static_cast<Cycle>((at + (Wide{1} << shift_) - 1) >> shift_);
}

FairServer::Passed FairServer::serve_next() {
  const size_t lane = order_.front();
  const QueuedTransfer& head = lanes_[lane].transfers.front();
  const Wide left = Wide{head.finish - virtual_} * asking_;
  serve_until(clock_ + (left > remainder_ ? left - remainder_ : 0));
  return {lane, head.transfer, head.start};
}

void FairServer::pop() {
  std::ranges::pop_heap(order_, [this](size_t a, size_t b) { return passes_later(a, b); });
  const size_t passed = order_.back();
  order_.pop_back();
  Lane& lane = lanes_[passed];
  count_asking(lane, false);
  lane.held[static_cast<size_t>(lane.transfers.front().launch)] += virtual_ - lane.head_since;
  lane.head_since = virtual_;
  lane.transfers.pop_front();
  lane.free_at = static_cast<Cycle>(clock_ >> shift_);
  if (!lane.transfers.empty()) {
    count_asking(lane, true);
    QueuedTransfer& next = lane.transfers.front();
    next.start = std::max(next.start, lane.free_at);
    lane.holders.hold(next.start, next.launch);
    enter(passed);
  }
  find_next();
}

}  // namespace warpfold::sim
