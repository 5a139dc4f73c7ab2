#include <algorithm>
#include <utility>

#include "sim/sm/barrier_unit.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
void MemoryStage::visit_request(const Sm& sm, MemoryRequest& request, StateVisitor& visitor) const {
  // The binding lists all fields. visit_queues visits ready, for heads of queues only, and enqueued and queued, for
  // requests in the data stage's queue only. Of a transfer under way, visit_replies visits the arrival, which may depend on
  // queued.
  [[maybe_unused]] const auto& [op, sub_core, slot, launch, cta, warp_serial, cta_serial, stage, group, issued, ready, enqueued,
                                queued, delay] = request;
  visitor.value("request_op", static_cast<uint64_t>(request.launch) << 32 | request.op->place);
  visitor.value("request_warp", static_cast<uint64_t>(request.sub_core) << 32 | static_cast<uint64_t>(request.slot));
  visitor.value("request_cta", static_cast<uint64_t>(request.cta));
  // The warp may have ended before the reply.
  const Warp& warp = sm.sub_core(request.sub_core).warp(request.slot);
  const bool live = warp.resident && warp.serial == request.warp_serial;
  visitor.value("request_warp_lives", live);
  const bool cta_lives = sm.state().cta_lives(request.cta, request.cta_serial);
  visitor.value("request_cta_lives", cta_lives);
  // Only bulk loads and arrivals go to a stage of a ring.
  const bool arrives =
      request.op->behaviour == isa::Behaviour::kBulkLoad || request.op->behaviour == isa::Behaviour::kMbarrierArrive;
  const RingStage behind =
      cta_lives && arrives ? stage_from_origin(sm, request.cta, request.op->barrier, request.stage) : RingStage{};
  visitor.value("request_stage", std::to_underlying(behind));
  if (live && request.op->behaviour == isa::Behaviour::kCopyAsync)
    visitor.relative("request_group", warp.async.committed - request.group);
  visitor.moment("request_issued", request.issued);
  visit_delay(sm, "request_delay", request.launch, request.cta, request.cta_serial, request.delay, visitor);
}

void MemoryStage::visit_queues(Sm& sm, StateVisitor& visitor) {
  for (MemoryQueue& queue : queues_) {
    [[maybe_unused]] const auto& [entries, head, size, last_accept, accepted_before] = queue;
    visitor.value("queue_size", queue.size);
    for (size_t i = 0; i < queue.size; ++i) {
      MemoryRequest& request = queue.entries[(queue.head + i) % queue.entries.size()];
      visit_request(sm, request, visitor);
      if (i == 0) visitor.moment("request_ready", request.ready);
    }
    if (queue.accepted_before) {
      visitor.time("queue_last_accept", queue.last_accept, sm.spec().address_generation_interval);
    } else {
      visitor.value("queue_last_accept", 0);
    }
  }
  visitor.value("data_queue_size", data_size_);
  visitor.value("data_head_passed", head_passed_);
  for (size_t i = 0; i < data_size_; ++i) {
    MemoryRequest& request = data_queue_[(data_head_ + i) % data_queue_.size()];
    visit_request(sm, request, visitor);
    visitor.moment("request_enqueued", request.enqueued);
    visitor.value("request_queued", request.queued);
  }
}

void MemoryStage::visit_replies(Sm& sm, StateVisitor& visitor) {
  visitor.value("replies", replies_.size());
  for (ComingReply& coming : replies_) {
    [[maybe_unused]] const auto& [at, sequence, number] = coming;
    TransferUnderWay& transfer = transfers_[coming.transfer];
    [[maybe_unused]] const auto& [request, own_sequence, bytes, from_dram, under_way, late, slowest, lost] = transfer;
    visitor.time("reply_at", coming.at);
    Cycle arrival = arrival_of(sm, transfer, coming.at);
    visitor.time("reply_arrival", arrival);
    visit_request(sm, transfer.request, visitor);
    visitor.value("reply_bytes", transfer.bytes);
    visitor.value("reply_from_dram", transfer.from_dram);
    visitor.value("reply_late", transfer.late);
    visitor.value("reply_slowest", static_cast<uint64_t>(transfer.slowest));
    visitor.value("reply_culprits", transfer.lost.size());
    for (const uint64_t each : transfer.lost) visitor.value("reply_lost", each);
  }
  if (visitor.recording()) return visit_ports(visitor);
  if (!replies_.empty()) next_reply_ = replies_.front().at;
  for (TransferUnderWay& transfer : transfers_) {
    const auto comes = [&](const ComingReply& coming) { return &transfers_[coming.transfer] == &transfer; };
    if (transfer.under_way && std::ranges::none_of(replies_, comes)) visit_request(sm, transfer.request, visitor);
  }
  visit_ports(visitor);
}

void MemoryStage::visit_ports(StateVisitor& visitor) {
  ingress_.visit(visitor);
  egress_.visit(visitor);
}

void PortQueue::visit(StateVisitor& visitor) {
  // The binding lists all fields. Not visited: leaving_bytes, the sum over leaving; window, which is constant.
  visitor.value("leaving", leaving.size());
  for (LeavingRequest& request : leaving) {
    [[maybe_unused]] const auto& [bytes, passed] = request;
    visitor.value("leaving_bytes", request.bytes);
    visitor.time("leaving_passed", request.passed);
  }
  visitor.value("unacknowledged", unacknowledged);
}

// Returns how many cycles ago a load may still take cycles of its return path. Its last byte may arrive up to the
// transit time before the request is served, and its other bytes before that.
Cycle MemoryStage::return_margin(const Sm& sm) const { return sm.spec().memory_transit + longest_return_; }

void MemoryStage::visit(Sm& sm, StateVisitor& visitor) {
  // The binding lists all fields. Not visited:
  //
  //   data_head        is the place of a ring's first entry
  //   longest_return   is constant
  //   asked            is the next sequence number
  //   free_transfers   are unused numbers
  //
  // A key holds no transfers that the chip's memory serves: no key is taken while the SM shares memory.
  [[maybe_unused]] auto& [memory, queues, data_queue, data_head, data_size, head_passed, credits, stage, arbitration_at,
                          last_sub_core, data, data_at, bulk_free, bulk_queue, outbound, returns, longest_return, bulk_history,
                          stage_history, data_history, alone, beside, transfers, free_transfers, asked, replies, next_reply,
                          ingress, egress, grid, polling] = *this;
  Cycle ready = visitor.now();
  for (const MemoryQueue& queue : queues_) {
    if (queue.size > 0) ready = std::min(ready, queue.front().ready);
  }
  const Cycle enqueued = data_size_ > 0 ? std::min(visitor.now(), data_queue_[data_head_].enqueued) : visitor.now();
  visit_queues(sm, visitor);
  visitor.value("credits", credits_);
  stage_.visit(visitor, "stage_fraction", "stage_free");
  visitor.time("arbitration_at", arbitration_at_);
  visitor.value("last_sub_core", static_cast<uint64_t>(last_sub_core_));
  data_.visit(visitor, "data_fraction", "data_free");
  visitor.time("data_at", data_at_);
  if (bulk_free_ > visitor.now() || !visitor.recording()) bulk_history_.visit(visitor, visitor.now());
  visitor.time("bulk_free", bulk_free_);
  visitor.value("bulk_queue_size", bulk_queue_.size());
  for (BulkCopy& copy : bulk_queue_) {
    [[maybe_unused]] const auto& [request, start] = copy;
    visit_request(sm, copy.request, visitor);
    visitor.time("bulk_start", copy.start);
  }
  visitor.value("outbound", outbound_);
  for (ReturnPath& path : returns_) path.visit(visitor, return_margin(sm));
  stage_history_.visit(visitor, ready);
  data_history_.visit(visitor, enqueued);
  for (auto* launches : {&alone_, &beside_}) {
    for (std::vector<StreamShares>& streams : *launches) {
      for (StreamShares& shares : streams) {
        // The binding lists all fields. Not visited: stream, which is constant.
        [[maybe_unused]] const auto& [stream, in_l1, to_dram] = shares;
        shares.in_l1.visit(visitor, "l1_fraction");
        shares.to_dram.visit(visitor, "dram_fraction");
      }
    }
  }
  memory_.visit(visitor);
  visit_replies(sm, visitor);
  visit_grid(sm, visitor);
}

}  // namespace warpfold::sim
