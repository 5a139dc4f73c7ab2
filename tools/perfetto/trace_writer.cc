#include "tools/perfetto/trace_writer.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "configs/escape/visible.h"

namespace warpfold::perfetto {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint32_t kSequence = 1;

}  // namespace

std::string shown(const std::string& name) {
  constexpr size_t kMost = 200;
  return escape::visible(name, kMost);
}

Clock::Clock(double mhz) : khz_(static_cast<uint64_t>(std::llround(mhz * 1000))) {}

uint64_t Clock::ns(uint64_t cycle) const { return static_cast<uint64_t>(Wide{cycle} * 1'000'000 / khz_); }

TrackDescriptor& TraceWriter::add_descriptor(Track parent, const std::string& name) {
  TrackDescriptor& track = tracks_.emplace_back();
  track.set_uuid(tracks_.size());
  if (parent != 0) track.set_parent_uuid(parent);
  track.set_name(shown(name));
  track.set_sibling_order_rank(static_cast<int32_t>(tracks_.size()));
  track.set_child_ordering(TrackDescriptor::EXPLICIT);
  return track;
}

Track TraceWriter::add_process(int pid, const std::string& name, const std::string& description) {
  TrackDescriptor& track = add_descriptor(0, name);
  track.set_description(shown(description));
  track.mutable_process()->set_pid(pid);
  track.mutable_process()->set_process_name(shown(name));
  return track.uuid();
}

Track TraceWriter::add_track(Track parent, const std::string& name) { return add_descriptor(parent, name).uuid(); }

Track TraceWriter::add_counter(Track parent, const std::string& name, const std::string& unit) {
  TrackDescriptor& track = add_descriptor(parent, name);
  track.mutable_counter()->set_unit_name(unit);
  track.mutable_counter()->set_y_axis_share_key(unit);
  return track.uuid();
}

void TraceWriter::begin(Track track, uint64_t cycle, const std::string& name, std::vector<Argument> arguments) {
  events_.push_back({cycle, track, TrackEvent::TYPE_SLICE_BEGIN, shown(name), std::move(arguments)});
}

void TraceWriter::end(Track track, uint64_t cycle) { events_.push_back({cycle, track, TrackEvent::TYPE_SLICE_END}); }

void TraceWriter::count(Track track, uint64_t cycle, double value) {
  events_.push_back({.cycle = cycle, .track = track, .type = TrackEvent::TYPE_COUNTER, .value = value});
}

TracePacket& TraceWriter::add_packet() {
  const bool first = trace_.packet().empty();
  TracePacket& packet = *trace_.add_packet();
  packet.set_trusted_packet_sequence_id(kSequence);
  packet.set_first_packet_on_sequence(first);
  if (!first) packet.clear_first_packet_on_sequence();
  packet.set_sequence_flags(first ? TracePacket::SEQ_INCREMENTAL_STATE_CLEARED | TracePacket::SEQ_NEEDS_INCREMENTAL_STATE
                                  : TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  return packet;
}

uint64_t TraceWriter::intern_name(const std::string& name, TracePacket& packet) {
  const auto [place, is_new] = names_.try_emplace(name, names_.size() + 1);
  if (is_new) {
    EventName& entry = *packet.mutable_interned_data()->add_event_names();
    entry.set_iid(place->second);
    entry.set_name(name);
  }
  return place->second;
}

uint64_t TraceWriter::intern_argument(const std::string& name, TracePacket& packet) {
  const auto [place, is_new] = argument_names_.try_emplace(name, argument_names_.size() + 1);
  if (is_new) {
    DebugAnnotationName& entry = *packet.mutable_interned_data()->add_debug_annotation_names();
    entry.set_iid(place->second);
    entry.set_name(name);
  }
  return place->second;
}

void TraceWriter::write(const Event& event) {
  TracePacket& packet = add_packet();
  packet.set_timestamp(clock_.ns(event.cycle));
  TrackEvent& written = *packet.mutable_track_event();
  written.set_type(event.type);
  written.set_track_uuid(event.track);
  if (event.type == TrackEvent::TYPE_COUNTER) written.set_double_counter_value(event.value);
  if (event.type != TrackEvent::TYPE_SLICE_BEGIN) return;
  written.set_name_iid(intern_name(event.name, packet));
  for (const Argument& argument : event.arguments) {
    DebugAnnotation& annotation = *written.add_debug_annotations();
    annotation.set_name_iid(intern_argument(argument.name, packet));
    if (const auto* number = std::get_if<uint64_t>(&argument.value)) annotation.set_uint_value(*number);
    if (const auto* real = std::get_if<double>(&argument.value)) annotation.set_double_value(*real);
    if (const auto* flag = std::get_if<bool>(&argument.value)) annotation.set_bool_value(*flag);
    if (const auto* text = std::get_if<std::string>(&argument.value)) annotation.set_string_value(shown(*text));
  }
}

std::string TraceWriter::finish() {
  for (const TrackDescriptor& track : tracks_) *add_packet().mutable_track_descriptor() = track;
  std::ranges::stable_sort(events_, {}, &Event::cycle);
  for (const Event& event : events_) write(event);
  return trace_.SerializeAsString();
}

}  // namespace warpfold::perfetto
