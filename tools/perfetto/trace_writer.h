#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tools/perfetto/trace.pb.h"

namespace warpfold::perfetto {

using Track = uint64_t;  // uuid of the track
struct Argument {
  std::string name;
  std::variant<uint64_t, double, bool, std::string> value;
};

// Converts cycles to nanoseconds, rounded down. The frequency is rounded to kHz. The arithmetic is integer, so that spans that meet
// in cycles also meet in nanoseconds.
class Clock {
 public:
  explicit Clock(double mhz);
  uint64_t ns(uint64_t cycle) const;

 private:
  uint64_t khz_;
};

// A native Perfetto trace: tracks first, then events in order of time. Names may contain anything: invisible characters and invalid
// UTF-8 are shown as escapes, and long names are cut.
class TraceWriter {
 public:
  explicit TraceWriter(const Clock& clock) : clock_(clock) {}

  // Adds a top-level group of tracks: a process in Perfetto's terms.
  Track add_process(int pid, const std::string& name, const std::string& description);
  // Adds a track below `parent`; tracks keep the order of these calls. A track without events is a group.
  Track add_track(Track parent, const std::string& name);
  Track add_counter(Track parent, const std::string& name, const std::string& unit);

  // A slice is [begin, end) in cycles. Slices of a track must come in order of their begins, and must be nested or disjoint.
  void begin(Track track, uint64_t cycle, const std::string& name, std::vector<Argument> arguments);
  void end(Track track, uint64_t cycle);
  void slice(Track track, uint64_t from, uint64_t to, const std::string& name, std::vector<Argument> arguments) {
    begin(track, from, name, std::move(arguments));
    end(track, to);
  }
  void count(Track track, uint64_t cycle, double value);

  // Returns the bytes of the trace.
  std::string finish();

 private:
  struct Event {
    uint64_t cycle;
    Track track;
    TrackEvent::Type type;
    std::string name{};
    std::vector<Argument> arguments{};
    double value = 0;
  };
  TrackDescriptor& add_descriptor(Track parent, const std::string& name);
  TracePacket& add_packet();
  uint64_t intern_name(const std::string& name, TracePacket& packet);
  uint64_t intern_argument(const std::string& name, TracePacket& packet);
  void write(const Event& event);

  Clock clock_;
  std::vector<TrackDescriptor> tracks_;
  std::vector<Event> events_;
  std::map<std::string, uint64_t> names_;
  std::map<std::string, uint64_t> argument_names_;
  Trace trace_;
};

// A name as the trace shows it: one visible line (configs/escape/visible.h) of at most 200 characters.
std::string shown(const std::string& name);

}  // namespace warpfold::perfetto
