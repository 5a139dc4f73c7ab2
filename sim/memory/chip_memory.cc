#include "sim/memory/chip_memory.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpfold::sim {
namespace {

constexpr Contended kResource[] = {Contended::kL2Read, Contended::kL2Write, Contended::kDram};

}  // namespace

ChipMemory::ChipMemory(const MemorySpec& spec, size_t lanes, size_t launches)
    : servers_{FairServer(spec.l2_read_milli_bytes_per_clk, 1000, lanes, launches),
               FairServer(spec.l2_write_milli_bytes_per_clk, 1000, lanes, launches),
               FairServer(spec.dram_milli_bytes_per_clk, 1000, lanes, launches)},
      lanes_(lanes),
      room_{spec.l2_dirty_bytes, spec.l2_write_back_bytes, spec.dram_queue_bytes},
      turnaround_(spec.dram_turnaround) {}

double ChipMemory::dirty_share() const {
  return dirty_ == 0 ? 0 : static_cast<double>(dirty_) / static_cast<double>(room_.dirty_bytes);
}

void ChipMemory::move_on(Cycle by) {
  for (FairServer& each : servers_) each.move_on(by);
  for (Lane& lane : lanes_) {
    for (Transfer& transfer : lane.transfers) {
      transfer.idle_end += by;
      transfer.reply.transferred += by;
    }
  }
  latest_ += by;
}

// DRAM writes waiting bytes whenever no read wants it.
void ChipMemory::catch_up(Cycle now) {
  FairServer& dram = server(kDram);
  const uint64_t left = dram.work_while_idle(now, evicted_ + written_back_);
  evicted_ -= std::min(evicted_, evicted_ + written_back_ - left);
  written_back_ = left - evicted_;
  dram.advance(now);
}

DramServer::Waiting ChipMemory::waiting_bytes(Cycle now) {
  catch_up(now);
  return {server(kDram).bytes_of(written_back_), server(kDram).bytes_of(evicted_)};
}

// Makes bytes of a store dirty. Returns the DRAM work for which each SM of the lane waits.
uint64_t ChipMemory::written(size_t lane, uint64_t bytes) {
  dirty_ += server(kDram).weight(lane) * bytes;
  if (dirty_ <= room_.dirty_bytes) return 0;
  written_back_ += server(kDram).work_of(dirty_ - room_.dirty_bytes);
  dirty_ = room_.dirty_bytes;
  return take_excess(room_.write_back_bytes, written_back_, lane);
}

// Evicts dirty bytes for a read. Returns the DRAM work behind the read of each SM of the lane.
uint64_t ChipMemory::evicted_by_read(size_t lane, uint64_t bytes) {
  const uint64_t evicted = std::min(dirty_, server(kDram).weight(lane) * bytes);
  dirty_ -= evicted;
  evicted_ += server(kDram).work_of(evicted, turnaround_);
  return take_excess(room_.queue_bytes, evicted_, lane);
}

// Removes from `waiting` the work beyond the room. Returns that work for each SM of the lane.
uint64_t ChipMemory::take_excess(uint64_t most_bytes, uint64_t& waiting, size_t lane) const {
  const uint64_t most = server(kDram).work_of(most_bytes);
  if (waiting <= most) return 0;
  const uint64_t excess = waiting - most;
  waiting = most;
  const uint64_t sms = server(kDram).weight(lane);
  return (excess + sms - 1) / sms;
}

void ChipMemory::add(Cycle now, size_t lane, Part part, uint64_t work, uint64_t bytes, const Request& request, Transfer& transfer) {
  FairServer& of = server(part);
  of.advance(now);
  ++transfer.parts;
  transfer.idle_end = std::max(transfer.idle_end, now + of.duration(lane, bytes));
  of.held_by_others(lane, transfer.held_before[part]);
  of.add(lane, std::max<uint64_t>(work, 1), request.transfer, request.launch);
}

void ChipMemory::request(Cycle now, size_t lane, const Request& request) {
  if (now < latest_) {
    throw std::logic_error("memory: a request of cycle " + std::to_string(now) + " behind one of " + std::to_string(latest_));
  }
  latest_ = now;
  std::vector<Transfer>& transfers = lanes_[lane].transfers;
  if (transfers.size() <= request.transfer) transfers.resize(request.transfer + 1);
  Transfer& transfer = transfers[request.transfer];
  transfer.parts = 0;
  transfer.under_way = true;
  transfer.write = request.write;
  transfer.idle_end = std::max(now, request.port_idle_end);
  transfer.launch = request.launch;
  transfer.reply = {.transferred = request.port_end,
                    .slowest = request.write ? Contended::kSmEgress : Contended::kSmIngress,
                    .lost = request.lost_at_port};
  ++lanes_[lane].under_way;
  const Part l2 = request.write ? kL2Write : kL2Read;
  add(now, lane, l2, server(l2).work_of(request.l2_bytes), request.l2_bytes, request, transfer);
  if (request.dram_bytes == 0) return;
  FairServer& dram = server(kDram);
  catch_up(now);
  if (request.write) {
    const uint64_t before = written(lane, request.dram_bytes);
    if (before > 0) add(now, lane, kDram, before, 0, request, transfer);
  } else {
    add(now, lane, kDram, dram.work_of(request.dram_bytes), request.dram_bytes, request, transfer);
    const uint64_t behind = evicted_by_read(lane, request.dram_bytes);
    if (behind > 0) dram.add(lane, behind, kNoTransfer, request.launch);
  }
}

Cycle ChipMemory::next() const { return std::min({server(kL2Read).next(), server(kL2Write).next(), server(kDram).next()}); }

// The slowest part so far determines the transfer's wait. The wait is charged first to other lanes, by the time for
// which each launch held the server, and then to the lane's own earlier transfers.
void ChipMemory::passed_part(Cycle at, size_t lane, int part, Cycle start, Transfer& transfer) {
  --transfer.parts;
  Reply& reply = transfer.reply;
  if (at <= reply.transferred) return;
  const FairServer& of = server(part);
  // A store waits for DRAM until L2 has room. With room, it would not have waited at all.
  const bool written = part == kDram && transfer.write;
  reply.transferred = at;
  reply.slowest = kResource[part];
  of.held_by_others(lane, reply.lost);
  Cycle left = at - std::min(at, transfer.idle_end);
  for (size_t l = 0; l < reply.lost.size(); ++l) {
    const auto held = static_cast<int64_t>(reply.lost[l] - transfer.held_before[part][l]);  // may be negative, by rounding
    reply.lost[l] = std::min<Cycle>(left, of.cycles_of(static_cast<uint64_t>(std::max<int64_t>(held, 0))));
    left -= reply.lost[l];
  }
  const Passage own{.wait_end = written ? at : start, .holders = &of.holders(lane)};
  add_lost(own, std::min(left, own.wait_end), transfer.launch, reply.lost);
}

bool ChipMemory::pop(Passed& passed) {
  int part = kL2Read;
  for (const int other : {kL2Write, kDram}) {
    if (server(other).next() < server(part).next()) part = other;
  }
  const Cycle at = server(part).next();
  const FairServer::Passed of = server(part).serve_next();
  const bool waited_for = of.transfer != kNoTransfer;
  if (waited_for) passed_part(at, of.lane, part, of.start, lanes_[of.lane].transfers[of.transfer]);
  server(part).pop();
  if (!waited_for) return false;
  Lane& lane = lanes_[of.lane];
  Transfer& transfer = lane.transfers[of.transfer];
  if (transfer.parts > 0) return false;
  transfer.under_way = false;
  --lane.under_way;
  passed.lane = of.lane;
  passed.transfer = of.transfer;
  transfer.reply.uncontended = transfer.idle_end;
  passed.reply = transfer.reply;
  return true;
}

void ChipMemory::set_weight(size_t lane, uint64_t sms) {
  for (FairServer& each : servers_) each.set_weight(lane, sms);
}

void ChipMemory::copy_lane(size_t from, size_t to, uint64_t sms) {
  if (to == lanes_.size()) lanes_.emplace_back();
  lanes_[to] = lanes_[from];
  for (FairServer& each : servers_) each.copy_lane(from, to, sms);
}

void ChipMemory::open_lane(Cycle now, size_t lane, uint64_t sms, const Backlog& backlog) {
  lanes_[lane] = {};
  set_weight(lane, sms);
  catch_up(now);
  const uint64_t bytes[] = {backlog.l2_read, backlog.l2_write, backlog.dram};
  for (int part = 0; part < kParts; ++part) {
    server(part).advance(now);
    if (bytes[part] > 0) server(part).add(lane, server(part).work_of(bytes[part]), kNoTransfer, 0);
  }
  dirty_ = std::min(room_.dirty_bytes, dirty_ + sms * backlog.dirty);
  evicted_ += server(kDram).work_of(sms * backlog.waiting.evicted);
  written_back_ += server(kDram).work_of(sms * backlog.waiting.written_back);
}

ChipMemory::Backlog ChipMemory::backlog(Cycle now, size_t lane) {
  catch_up(now);
  for (FairServer& each : servers_) each.advance(now);
  const auto bytes = [&](Part part) { return server(part).bytes_of(server(part).backlog(lane)); };
  return {bytes(kL2Read), bytes(kL2Write), bytes(kDram)};
}

}  // namespace warpfold::sim
