#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/perfetto/trace.pb.h"

namespace warpfold::cli {

struct Slice {
  std::string name;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  size_t depth = 0;
  std::map<std::string, uint64_t> numbers{};  // arguments of the event
};

// A trace as a viewer reads it. Throws where it could not: a reference to nothing, an end without a begin, time that goes back.
class View {
 public:
  explicit View(const std::string& bytes) {
    perfetto::Trace trace;
    if (!trace.ParseFromString(bytes)) throw std::runtime_error("not a trace");
    for (const perfetto::TracePacket& packet : trace.packet()) read(packet);
    for (const auto& [track, open] : open_) {
      if (!open.empty()) throw std::runtime_error(open.back().name + " never ends");
    }
  }

  // A track's path from the top: "SM class 0: 132 SMs/kernels/rng".
  std::vector<std::string> tracks() const {
    std::vector<std::string> names;
    for (const auto& [uuid, track] : tracks_) names.push_back(path(uuid));
    return names;
  }
  std::vector<Slice> slices(const std::string& track) const {
    for (const auto& [uuid, slices] : slices_) {
      if (path(uuid) == track) return slices;
    }
    return {};
  }
  // (ns, value)
  std::vector<std::pair<uint64_t, double>> counts(const std::string& track) const {
    for (const auto& [uuid, counts] : counts_) {
      if (path(uuid) == track) return counts;
    }
    return {};
  }

 private:
  std::string path(uint64_t uuid) const {
    const perfetto::TrackDescriptor& track = tracks_.at(uuid);
    return track.has_parent_uuid() ? path(track.parent_uuid()) + "/" + track.name() : track.name();
  }

  void read(const perfetto::TracePacket& packet) {
    if (packet.trusted_packet_sequence_id() == 0) throw std::runtime_error("packet of no sequence");
    for (const auto& name : packet.interned_data().event_names()) names_[name.iid()] = name.name();
    for (const auto& name : packet.interned_data().debug_annotation_names()) arguments_[name.iid()] = name.name();
    if (packet.has_track_descriptor()) tracks_[packet.track_descriptor().uuid()] = packet.track_descriptor();
    if (packet.has_track_event()) read_event(packet.track_event(), packet.timestamp());
  }

  void read_event(const perfetto::TrackEvent& event, uint64_t now) {
    if (now < last_) throw std::runtime_error("time goes back");
    last_ = now;
    if (!tracks_.contains(event.track_uuid())) throw std::runtime_error("event on no track");
    if (event.type() == perfetto::TrackEvent::TYPE_COUNTER)
      return counts_[event.track_uuid()].emplace_back(now, event.double_counter_value()), void();
    std::vector<Slice>& open = open_[event.track_uuid()];
    if (event.type() == perfetto::TrackEvent::TYPE_SLICE_BEGIN) {
      Slice slice{names_.at(event.name_iid()), now, 0, open.size()};
      for (const auto& argument : event.debug_annotations())
        slice.numbers[arguments_.at(argument.name_iid())] = argument.uint_value();
      open.push_back(slice);
      return;
    }
    if (open.empty()) throw std::runtime_error("end without a begin");
    open.back().end_ns = now;
    slices_[event.track_uuid()].push_back(open.back());
    open.pop_back();
  }

  std::map<uint64_t, perfetto::TrackDescriptor> tracks_;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, std::string> arguments_;
  std::map<uint64_t, std::vector<Slice>> open_;
  std::map<uint64_t, std::vector<Slice>> slices_;  // in order of their ends
  std::map<uint64_t, std::vector<std::pair<uint64_t, double>>> counts_;
  uint64_t last_ = 0;
};

}  // namespace warpfold::cli
