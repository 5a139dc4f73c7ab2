#include "tools/profile/kineto_reader.h"

#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/profile/byte_stream.h"
#include "tools/profile/json_text.h"
#include "tools/profile/launch_collector.h"

namespace warpfold::profile {
namespace {

constexpr size_t kMostInputs = 64;  // per operator; further tensors are omitted
constexpr size_t kMostExtents = 16;
constexpr size_t kLongestValue = 64;  // of a number's text; longer ones are lists of no axes

// The use of the value under a key. Keys of `args` and of the event itself do not collide.
enum class Field {
  kNone,
  kPhase,
  kCategory,
  kName,
  kStart,
  kDuration,
  kThread,
  kExternalId,
  kRecord,
  kDevice,
  kStream,
  kCorrelation,
  kRegisters,
  kSharedMemory,
  kGrid,
  kBlock,
  kInputs,
  kTypes,
  kStrides,
  kValues,
};

constexpr std::array<std::pair<std::string_view, Field>, 6> kEventFields{{{"ph", Field::kPhase},
                                                                          {"cat", Field::kCategory},
                                                                          {"name", Field::kName},
                                                                          {"ts", Field::kStart},
                                                                          {"dur", Field::kDuration},
                                                                          {"tid", Field::kThread}}};
// "external id", "Input dims" and "Input Types": Kineto of 2021.
constexpr std::array<std::pair<std::string_view, Field>, 16> kArguments{{{"External id", Field::kExternalId},
                                                                         {"Record function id", Field::kRecord},
                                                                         {"external id", Field::kExternalId},
                                                                         {"device", Field::kDevice},
                                                                         {"stream", Field::kStream},
                                                                         {"correlation", Field::kCorrelation},
                                                                         {"registers per thread", Field::kRegisters},
                                                                         {"shared memory", Field::kSharedMemory},
                                                                         {"grid", Field::kGrid},
                                                                         {"block", Field::kBlock},
                                                                         {"Input Dims", Field::kInputs},
                                                                         {"Input dims", Field::kInputs},
                                                                         {"Input type", Field::kTypes},
                                                                         {"Input Types", Field::kTypes},
                                                                         {"Input Strides", Field::kStrides},
                                                                         {"Concrete Inputs", Field::kValues}}};

template <typename Fields>
Field field_of(const Fields& fields, std::string_view key) {
  const auto* const found = std::ranges::find(fields, key, [](const auto& each) { return each.first; });
  return found == fields.end() ? Field::kNone : found->second;
}

// Handles RapidJSON's events. The text is { "deviceProperties": [ {...} ], "traceEvents": [ {...}, ... ] } or [ {...}, ... ]. A
// depth is a number of open brackets: an event's members are at depth event_, members of its
// `args` one deeper.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(ByteStream& bytes, LaunchCollector& collector) : bytes_(bytes), collector_(collector) {}

  const std::string& problem() const { return problem_; }

  bool Default() {  // null, true, false
    bytes_.token_ends();
    return expect_container();
  }
  bool Int(int value) { return number(value); }
  bool Uint(unsigned value) { return number(value); }
  bool Int64(int64_t value) { return number(static_cast<double>(value)); }
  bool Uint64(uint64_t value) { return number(static_cast<double>(value), value); }
  bool Double(double value) { return number(value); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    bytes_.token_ends();
    take_text({text, length});
    return expect_container();
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    bytes_.token_ends();
    const std::string_view key(text, length);
    if (depth_ == 1) top_ = key == "traceEvents" ? Top::kEvents : key == "deviceProperties" ? Top::kDevices : Top::kOther;
    if (in_event() && depth_ == event_) {
      field_ = field_of(kEventFields, key);
      arguments_ = key == "args";
    } else if (in_event() && depth_ == event_ + 1 && arguments_) {
      field_ = field_of(kArguments, key);
    } else if (in_device() && depth_ == 3) {
      device_name_ = key == "name";
      device_id_ = key == "id";
    }
    return true;
  }
  bool StartObject() {
    if (!open()) return false;
    if (depth_ == 1) event_ = 3;
    if (in_event() && depth_ == event_) {
      event_values_ = {};
      list_input_ = 0;
    }
    if (in_device() && depth_ == 3) device_ = {};
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    bytes_.token_ends();
    if (in_event() && depth_ == event_) {
      if (!collector_.add(event_values_)) return fails(why_invalid(event_values_));
    }
    if (in_device() && depth_ == 3) collector_.add_device(device_.first, device_.second);
    --depth_;
    field_ = Field::kNone;
    return true;
  }
  bool StartArray() {
    if (!open()) return false;
    if (depth_ == 1) {
      top_ = Top::kEvents;
      event_ = 2;
    }
    if (auto* lists = lists_of_field(); lists != nullptr && depth_ == list_depth() + 1) {
      if (lists->size() < kMostInputs) {
        lists->emplace_back();
      } else {
        field_ = Field::kNone;
      }
    }
    if (auto* tensors = tensors_of_list(); tensors != nullptr && depth_ == list_depth() + 2 && tensors->size() < kMostInputs)
      tensors->emplace_back();
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    bytes_.token_ends();
    --depth_;
    if (in_event() && depth_ < list_depth()) field_ = Field::kNone;
    return true;
  }

 private:
  enum class Top { kOther, kEvents, kDevices };

  bool in_event() const { return top_ == Top::kEvents && event_ > 0 && depth_ >= event_; }
  bool in_device() const { return top_ == Top::kDevices && depth_ >= 3; }
  size_t list_depth() const { return event_ + 2; }  // inside a list of args
  // The lists of numbers, one an input, that are being read; null if there are none.
  std::vector<std::vector<uint64_t>>* lists_of_field() {
    return field_ == Field::kInputs ? &event_values_.inputs : field_ == Field::kStrides ? &event_values_.strides : nullptr;
  }
  // The tensors of the first list of tensors among the inputs, "[[8], [[1, 2], [3, 4]]]"; null inside another list.
  std::vector<std::vector<uint64_t>>* tensors_of_list() {
    auto* const lists = lists_of_field();
    if (lists == nullptr || depth_ < list_depth() + 2) return nullptr;
    if (list_input_ == 0) list_input_ = lists->size();
    if (lists->size() != list_input_) return nullptr;
    return field_ == Field::kInputs ? &event_values_.list : &event_values_.list_strides;
  }
  bool fails(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool open() {
    bytes_.token_ends();
    return ++depth_ <= kDeepestJson || fails("nested deeper than " + std::to_string(kDeepestJson) + " brackets");
  }
  bool expect_container() { return depth_ > 0 || fails("expected a trace of torch.profiler, an object or a list of events"); }

  bool number(double value) { return number(value, value > 0 && value < 1.8e19 ? static_cast<uint64_t>(value) : 0); }
  bool number(double value, uint64_t whole) {
    bytes_.token_ends();
    if (in_device() && device_id_) device_.first = whole;
    if (!in_event()) return expect_container();
    TraceEvent& event = event_values_;
    if (depth_ == event_) {
      if (field_ == Field::kStart) event.ts = value;
      if (field_ == Field::kDuration) event.dur = value;
      if (field_ == Field::kThread) event.thread = whole;
    } else if (depth_ == event_ + 1 && arguments_) {
      if (field_ == Field::kExternalId) event.external_id = whole;
      if (field_ == Field::kRecord) event.record = whole;
      if (field_ == Field::kDevice) event.device = whole;
      if (field_ == Field::kStream) event.stream = whole;
      if (field_ == Field::kCorrelation) event.correlation = whole;
      if (field_ == Field::kRegisters) event.registers = whole;
      if (field_ == Field::kSharedMemory) event.shared_memory = whole;
    } else if (depth_ == list_depth()) {
      if (field_ == Field::kGrid) append(event.grid, whole);
      if (field_ == Field::kBlock) append(event.block, whole);
    } else if (auto* lists = lists_of_field(); depth_ == list_depth() + 1 && lists != nullptr && !lists->empty()) {
      append(lists->back(), whole);
    } else if (auto* tensors = tensors_of_list(); depth_ == list_depth() + 2 && tensors != nullptr && !tensors->empty()) {
      append(tensors->back(), whole);
    }
    return true;
  }
  static std::optional<uint64_t> whole_number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  }
  static void append(std::vector<uint64_t>& values, uint64_t value) {
    if (values.size() < kMostExtents) values.push_back(value);
  }
  void take_text(std::string_view text) {
    if (in_device() && device_name_) device_.second = text;
    if (!in_event()) return;
    if (depth_ == event_) {
      if (field_ == Field::kName) event_values_.name = text;
      if (field_ == Field::kCategory) event_values_.kind = event_kind(text);
      if (field_ == Field::kPhase) event_values_.complete = text == "X";
    } else if (depth_ == event_ + 1 && arguments_) {
      if (field_ == Field::kExternalId) event_values_.external_id = whole_number(text);
      if (field_ == Field::kCorrelation) event_values_.correlation = whole_number(text);
    } else if (depth_ == list_depth() && field_ == Field::kTypes && event_values_.types.size() < kMostInputs) {
      event_values_.types.emplace_back(text);
    } else if (depth_ == list_depth() && field_ == Field::kValues && event_values_.values.size() < kMostInputs) {
      event_values_.values.emplace_back(text.size() <= kLongestValue ? text : std::string_view());
    }
  }

  ByteStream& bytes_;
  LaunchCollector& collector_;
  std::string problem_{};
  size_t depth_ = 0;
  size_t event_ = 0;  // 2 in a list of events, 3 in an object that has one
  Top top_ = Top::kOther;
  Field field_ = Field::kNone;
  bool arguments_ = false;
  TraceEvent event_values_{};
  size_t list_input_ = 0;  // number of the input that is the first list of tensors, from 1 on; 0: none yet
  bool device_name_ = false;
  bool device_id_ = false;
  std::pair<uint64_t, std::string> device_{};
};

}  // namespace

Expected<Profile> read_kineto(const std::string& file, std::unique_ptr<traces::accelsim::ByteSource> source) {
  ByteStream bytes(std::move(source));
  LaunchCollector collector;
  Handler handler(bytes, collector);
  if (auto parsed = parse_json(file, bytes, handler); !parsed) return std::unexpected(parsed.error());
  Profile profile = collector.take();
  if (profile.shapes.empty())
    return fail_at(file, 0, 0, "no kernel in the trace; profile with ProfilerActivity.CUDA, and export by export_chrome_trace");
  return profile;
}

Expected<Profile> read_kineto(const std::string& path) {
  auto source = traces::accelsim::open_source(path);
  if (!source) return std::unexpected(source.error());
  return read_kineto(path, std::move(*source));
}

}  // namespace warpfold::profile
