// Extremes in every field of a scenario: each is refused, or answered with figures that are finite, and within a second.

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <random>
#include <thread>

#include "configs/load.h"
#include "configs/scenario.pb.h"
#include "sim/engine/interrupt.h"
#include "tests/source_dir.h"
#include "tools/warpfold/commands/dispatch.h"
#include "tools/warpfold/run/sanitized.h"

namespace warpfold::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const std::string kScenarios = WARPFOLD_SOURCE_DIR "/configs/scenarios/";

// Small scenarios that have each kind of kernel between them.
struct Small {
  std::string scenario;
  std::vector<std::string> settings;
};
const std::vector<Small> kSmall = {
    {"qkv_philox_small", {}},
    {"block", {"embedding=512", "heads=4", "seq=512"}},
    {"decode_paged_a100", {"batch=1"}},
    {"flash_attention_3_dropout_h100", {"seq=512"}},
    {"flash_attention_4_b200", {"seq=1024"}},
    {"flash_attention_4_backward_b200", {"seq=512"}},
    {"gemm_a100_fp16_4096", {"size=512"}},
    {"gemm_b200_bf16_8192", {}},
    {"moe_up_h100", {}},
    {"row_sums_philox", {"kernel.sums.listing.description.parameter.rows.value=1728", "kernel.rng.philox.heads=1"}},
    {"stream_triad_h100", {"elements=4194304"}},
};

std::vector<std::string> extremes(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return {"0", "1", "65535", "2147483648", "4294967295"};
    case FieldDescriptor::CPPTYPE_INT32:
      return {"-2147483648", "-1", "0", "2147483647"};
    case FieldDescriptor::CPPTYPE_UINT64:
      return {"0", "1", "1000000000", "4294967296", "1099511627776", "9223372036854775808", "18446744073709551615"};
    case FieldDescriptor::CPPTYPE_INT64:
      return {"-9223372036854775808", "-1", "0", "9223372036854775807"};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return {"0", "-1", "1e-300", "1e-9", "1e9", "1e300", "inf", "nan"};
    case FieldDescriptor::CPPTYPE_BOOL:
      return {"false", "true"};
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i) names.push_back(field.enum_type()->value(i)->name());
      return names;
    }
    default:
      return {};
  }
}

// Appends settings of each plain field that the message has or could have, one field a setting; of a oneof only the set field.
void collect(const Message& message, const std::string& path, std::vector<std::string>& settings) {
  const Descriptor& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    const bool there = !field.is_repeated() && message.GetReflection()->HasField(message, &field);
    if (field.real_containing_oneof() != nullptr && !there) continue;
    const std::string name = (path.empty() ? "" : path + ".") + field.name();
    if (field.is_repeated()) {
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      for (int k = 0; k < message.GetReflection()->FieldSize(message, &field); ++k)
        collect(message.GetReflection()->GetRepeatedMessage(message, &field, k), name + "." + std::to_string(k), settings);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      collect(message.GetReflection()->GetMessage(message, &field), name, settings);
    } else {
      for (const std::string& value : extremes(field)) settings.push_back(name + "=" + value);
    }
  }
}

// Stops a command that uses more than `limit` seconds of the processor.
class Watchdog {
 public:
  explicit Watchdog(double seconds)
      : dog_([this, end = processor_seconds() + seconds](const std::stop_token& stop) {
          constexpr std::chrono::milliseconds kBetweenLooks(50);
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, stop, kBetweenLooks, [&] { return stop.stop_requested(); })) {
            if (processor_seconds() > end) sim::stop_wanted() = true;
          }
        }) {}
  ~Watchdog() {
    dog_.request_stop();
    dog_.join();
    sim::stop_wanted() = false;
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  static double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread dog_;
};

// Returns the fault of the program's answer; empty if it has none.
std::string fault_of(const std::vector<std::string>& words) {
  try {
    const Watchdog watchdog(kSanitized ? 60 : 3);
    const auto answered = answer(words);
    if (!answered) {
      const bool refused = answered.error().exit_code == kUserError || answered.error().exit_code == kDeadlock;
      return refused ? "" : "exit " + std::to_string(answered.error().exit_code) + ": " + answered.error().text;
    }
    for (const char* bad : {": nan", ": -nan", ": inf", ": -inf", "\"NaN\"", "Infinity\""}) {
      const size_t at = answered->find(bad);
      if (at != std::string::npos) return "not finite: " + answered->substr(at > 60 ? at - 60 : 0, 100);
    }
  } catch (const std::exception& error) {
    return std::string("thrown: ") + error.what();
  }
  return "";
}

struct Case {
  std::string file;
  std::vector<std::string> settings;  // settings that make it small
  std::vector<std::string> extremes;  // of single fields
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Small& small : kSmall) {
    const std::string file = kScenarios + small.scenario + ".textproto";
    auto scenario = configs::load_scenario(file, small.settings);
    if (!scenario) throw std::runtime_error(scenario.error().text());
    Case& one = all.emplace_back(file, small.settings);
    collect(*scenario, "", one.extremes);
    std::erase_if(one.extremes, [&](const std::string& setting) {
      // Of the GPU once. A block that is not there would come whole. CTAs of row_sums differ and are simulated one by one: of 65535
      // times its grid until --time-limit ends that.
      return (setting.starts_with("gpu.") && all.size() > 1) || (setting.starts_with("block.") && !scenario->has_block()) ||
             (setting.find(".grid.") != std::string::npos && setting.ends_with("=65535"));
    });
  }
  return all;
}

std::vector<std::string> with_settings(std::vector<std::string> words, const std::vector<std::string>& settings) {
  for (const std::string& each : settings) words.insert(words.end(), {"--set", each});
  return words;
}

// WARPFOLD_WHOLE (./dev test --all): every one.
TEST(Extremes, OfAFieldAreRefusedOrAnswered) {
  const size_t step = std::getenv("WARPFOLD_WHOLE") != nullptr ? 1 : kSanitized ? 61 : 7;
  size_t tried = 0;
  for (const Case& each : cases()) {
    for (size_t i = tried % step; i < each.extremes.size(); i += step) {
      std::vector<std::string> settings = each.settings;
      settings.push_back(each.extremes[i]);
      const std::vector<std::string> words = with_settings({"simulate", each.file, "--format", "json"}, settings);
      EXPECT_EQ(fault_of(words), "") << testing::PrintToString(words);
      ++tried;
    }
  }
  EXPECT_GT(tried, kSanitized ? 50 : 500);
}

// Several that input checks let through, together.
TEST(Extremes, TogetherAreRefusedOrAnswered) {
  const int trials = std::getenv("WARPFOLD_WHOLE") != nullptr ? 400 : kSanitized ? 2 : 20;
  constexpr int kTogether = 6;
  std::mt19937 random(20261126);
  for (const Case& each : cases()) {
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<std::string> settings = each.settings;
      for (int k = 0; k < kTogether; ++k) {
        const std::string& extreme = each.extremes[random() % each.extremes.size()];
        if (extreme.starts_with("gpu.")) continue;
        settings.push_back(extreme);
        if (!configs::load_scenario(each.file, settings)) settings.pop_back();
      }
      for (const char* command : {"simulate", "model", "roofline", "occupancy"}) {
        const std::vector<std::string> words = with_settings({command, each.file, "--format", "json"}, settings);
        EXPECT_EQ(fault_of(words), "") << testing::PrintToString(words);
      }
    }
  }
}

}  // namespace
}  // namespace warpfold::cli
