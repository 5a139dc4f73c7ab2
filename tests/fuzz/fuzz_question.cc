// Lines of a page's question, after the lines that state the kind of question. The result is a message, or a command that names no
// file from these lines. Accepted settings are applied to a scenario with every field that may name a file: none of these fields
// may change. libFuzzer's entry.

#include <google/protobuf/descriptor.h>

#include <set>

#include "configs/load.h"
#include "configs/settings.h"
#include "tests/fuzz/input.h"
#include "tools/warpfold/serve/question.h"

namespace {

using namespace warpfold;
namespace pb = google::protobuf;

constexpr std::string_view kScenario = R"(
  name: "s" gpu_file: "h100_sxm" base: "b"
  parameter { name: "seq" value: 512 sets { path: "kernel.qkv.hopper_gemm.m" } }
  kernel { name: "qkv" hopper_gemm { m: 512 n: 512 k: 512 library: "CUTLASS" } }
  kernel { name: "rng" stream: 1 after: "qkv" philox { rounds: 7 heads: 2 queries: 256 keys: 256 } tensor { stream: "a" of: "b" } }
  kernel { name: "own" trace { path: "own.wft" kernel: "k" } }
  kernel { name: "sums" listing { path: "a.sass" launch: "sums" description { function: "f" answer { line: 4 lengths: "rows" } } } }
  gpu { name: "g" base: "b" architecture: "sm_90" sm { tensor { scale: 1 } } power { gpu: "p" assumption: "a" } }
  policy { kind: CARVE_OUT reserve { kernel: "rng" register_percent: 6 } }
  block { model: "llama3_8b" }
  set: "x=1"
)";

// Names of objects inside a scenario, and descriptions; every other text may lead to a file.
const std::set<std::string> kHarmless{"name",   "description", "after", "stream", "of",
                                      "kernel", "order",       "guest", "host",   "library"};

void add_texts(const pb::Message& message, std::multiset<std::string>& texts) {
  std::vector<const pb::FieldDescriptor*> fields;
  const pb::Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const std::string type = field->containing_type()->name();
    const bool harmless = kHarmless.contains(field->name()) && type != "TraceFile" && type != "Gpu" && type != "Parameter";
    for (int i = 0; i < (field->is_repeated() ? reflection.FieldSize(message, field) : 1); ++i) {
      if (field->message_type() != nullptr) {
        add_texts(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i) : reflection.GetMessage(message, field),
                  texts);
      } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING && !harmless) {
        texts.insert(
            type + "." + field->name() + "=" +
            (field->is_repeated() ? reflection.GetRepeatedString(message, field, i) : reflection.GetString(message, field)));
      }
    }
  }
}

std::multiset<std::string> texts_of(const configs::Scenario& scenario) {
  std::multiset<std::string> texts;
  add_texts(scenario, texts);
  return texts;
}

// A question adds no text to the scenario but the names that the page may choose.
void require_no_new_text(const std::multiset<std::string>& before, const configs::Scenario& scenario) {
  for (const std::string& text : texts_of(scenario)) {
    const bool chosen = text == "Scenario.gpu_file=h200_sxm" || text == "Block.model=llama3_8b";
    fuzz::require(chosen || before.contains(text), "a question sets " + text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const configs::Scenario written = [] {
    configs::Scenario scenario;
    const auto parsed = configs::parse_text("scenario", kScenario, scenario);
    fuzz::require(parsed.has_value(), parsed ? "" : parsed.error().text());
    return scenario;
  }();
  static const std::multiset<std::string> texts = texts_of(written);
  static const serve::Names names{{"small"}, {"h200_sxm"}, {"llama3_8b"}};
  const auto question = serve::read_question("ask simulate\nscenario small\n" + fuzz::text_of(data, size), names);
  if (!question) {
    fuzz::require_message(question.error());
    return 0;
  }
  configs::Scenario scenario = written;
  for (size_t w = 0; w + 1 < question->changes.size(); w += 2) {
    const std::string& word = question->changes[w + 1];
    const auto change = configs::parse_setting(question->changes[w] == "--set" ? word : configs::unset_setting(word));
    fuzz::require(change.has_value(), "a question has a setting that is none");
    (void)configs::apply_change(scenario, *change);
    // Groups of the GPU and fields of the block are named without it as well.
    if (configs::Scenario::descriptor()->FindFieldByName(change->path.substr(0, change->path.find_first_of(".["))) != nullptr)
      continue;
    (void)configs::apply_change(*scenario.mutable_gpu(), *change);
    (void)configs::apply_change(*scenario.mutable_block(), *change);
  }
  require_no_new_text(texts, scenario);
  return 0;
}
