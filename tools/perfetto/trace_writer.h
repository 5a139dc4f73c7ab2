#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tools/perfetto/trace.pb.h"

namespace warpfold::perfetto {

using Track = uint64_t;  // its uuid
struct Argument {
  std::string name;
  std::variant<uint64_t, double, bool, std::string> value;
};

// Nanoseconds at which a cycle begins, rounded down. The clock is taken to the kHz; all is integer arithmetic, so that spans that
// meet in cycles meet in nanoseconds.
class Clock {
 public:
  explicit Clock(double mhz);
  uint64_t ns(uint64_t cycle) const;

 private:
  uint64_t khz_;
};

// A native Perfetto trace: tracks first, then events in order of time. Names may hold anything: what is unseen or no UTF-8
// is shown as an escape, and what is too long is cut.
class TraceWriter {
 public:
  explicit TraceWriter(const Clock& clock) : clock_(clock) {}

  // A group of tracks of its own, as processes are in Perfetto.
  Track add_process(int pid, const std::string& name, const std::string& description);
  // Below `parent`, in the order of these calls. A track without events is a group.
  Track add_track(Track parent, const std::string& name);
  Track add_counter(Track parent, const std::string& name, const std::string& unit);

  // [begin, end) in cycles. A track's slices come in the order of their begins; one lies inside another or beside it.
  void begin(Track track, uint64_t cycle, const std::string& name, std::vector<Argument> arguments);
  void end(Track track, uint64_t cycle);
  void slice(Track track, uint64_t from, uint64_t to, const std::string& name, std::vector<Argument> arguments) {
    begin(track, from, name, std::move(arguments));
    end(track, to);
  }
  void count(Track track, uint64_t cycle, double value);

  // The bytes of the trace.
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

// What a trace shows of a name: one visible line (configs/escape/visible.h) of at most 200 characters.
std::string shown(const std::string& name);

}  // namespace warpfold::perfetto
