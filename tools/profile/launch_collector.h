#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

enum class EventKind { kOther, kKernel, kCopy, kOperator, kCall, kRange };

// The kind of an event by its category. Kineto of 2021 and before wrote "Kernel", "Memcpy", "Memset", "Operator", "Runtime".
EventKind event_kind(std::string_view category);

// The fields of a trace's event that are used.
struct TraceEvent {
  EventKind kind = EventKind::kOther;
  bool complete = false;  // "ph": "X"
  std::string name;
  double ts = -1;
  double dur = -1;
  uint64_t thread = 0;
  uint64_t device = 0;
  uint64_t stream = 0;
  std::optional<uint64_t> correlation{};
  uint64_t registers = 0;
  uint64_t shared_memory = 0;
  std::optional<uint64_t> external_id{};
  std::optional<uint64_t> record{};  // "Record function id"
  std::vector<uint64_t> grid;
  std::vector<uint64_t> block;
  std::vector<std::vector<uint64_t>> inputs;
  std::vector<std::string> types;
  std::vector<std::vector<uint64_t>> strides;       // of the inputs
  std::vector<std::vector<uint64_t>> list;          // extents of the tensors of the first list among the inputs
  std::vector<std::vector<uint64_t>> list_strides;  // of these tensors
  std::vector<std::string> values;                  // "Concrete Inputs"
};

// Says what a kernel or copy lacks that LaunchCollector::add refuses.
std::string why_invalid(const TraceEvent& event);

// Numbers values: equal values get the same number.
template <typename Value>
class Numbers {
 public:
  uint32_t of(const Value& value) {
    const auto [found, added] = known_.try_emplace(value, static_cast<uint32_t>(known_.size()));
    if (added) values_.push_back(&found->first);
    return found->second;
  }
  const Value& value(uint32_t number) const { return *values_[number]; }
  size_t size() const { return values_.size(); }

 private:
  std::map<Value, uint32_t> known_;
  std::vector<const Value*> values_;
};

// Collects events, and joins launches with their operators at the end.
class LaunchCollector {
 public:
  // Returns false if the event is invalid.
  bool add(const TraceEvent& event);
  void add_device(uint64_t id, std::string name) { devices_[id] = std::move(name); }

  Profile take();

 private:
  using Extents = std::array<uint32_t, 3>;
  // Name, grid, block, registers, shared memory.
  using Configuration = std::tuple<std::string, Extents, Extents, uint32_t, uint32_t>;
  using Lists = std::vector<std::vector<uint64_t>>;
  using Texts = std::vector<std::string>;
  using OperatorText = std::tuple<std::string, Lists, Texts, Lists, Lists, Lists, Texts>;  // as the fields of Operator
  struct Raw {
    Launch launch;
    uint32_t device = 0;
    std::optional<uint64_t> external_id{};
    std::optional<uint64_t> correlation{};
  };
  // A call of an operator: its number in texts_, and that of its record function.
  struct Op {
    uint32_t text;
    uint64_t record;
  };
  // A call of an operator on its thread, or a call of CUDA's runtime that may have launched a kernel.
  struct Span {
    uint32_t thread;
    uint32_t op;
    double begin;
    double end;
  };
  struct Call {
    uint64_t correlation;
    double at;
    uint32_t thread;
    uint32_t op = kNone;  // the innermost operator that encloses the call
    uint32_t ranges = 0;  // number of the set of ranges around the call, in range_sets_
  };
  // An instance of a user's range.
  struct Range {
    uint32_t name;
    double begin;
    double end;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  // Assigns each call its operator: visits each thread in order of time, with a stack of the operators that enclose the moment.
  void join_calls();
  // Assigns each call the ranges that enclose it in time, on whatever thread: autograd launches kernels from a thread of its own.
  void join_ranges();

  // Returns whether External ids of kernels are those of operators. In Kineto before 2023 each is the kernel's correlation.
  bool ids_are_of_operators() const;
  // Finds a launch's operator by the External id, or as that of the call that launched the kernel. The call decides if External ids
  // are not those of operators, or if several operators have the id.
  uint32_t operator_of(const Raw& raw, bool ids_are_of_operators) const;
  // The call that launched it; null: not recorded.
  const Call* call_of(const Raw& raw) const;

  void choose_device(Profile& profile);
  void add_shape(uint32_t configuration, const OperatorText* text, Profile& profile) const;

  Numbers<Configuration> configurations_;
  Numbers<OperatorText> texts_;
  Numbers<uint64_t> threads_;
  std::vector<Op> ops_;
  std::vector<std::pair<uint64_t, uint32_t>> operators_;  // External id, index in ops_
  std::vector<Span> spans_;
  std::vector<Call> calls_;
  std::vector<Range> ranges_;
  Numbers<std::string> range_names_;
  Numbers<std::vector<uint32_t>> range_sets_;
  std::vector<Raw> raws_;
  std::map<uint64_t, std::string> devices_;
};

}  // namespace warpfold::profile
