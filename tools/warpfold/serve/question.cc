#include "tools/warpfold/serve/question.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/scenario.pb.h"
#include "configs/settings.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::serve {

namespace {

namespace pb = google::protobuf;

constexpr std::array<std::string_view, 6> kAsks{"model", "simulate", "compare", "whatif", "study", "cycles"};
constexpr std::array<std::string_view, 4> kWindowWords{"from", "count", "sub-core", "sm-class"};
constexpr size_t kMostLines = 500;
constexpr size_t kMostSession = 40;
constexpr size_t kMostAxes = 2;

// Text fields that name an object inside a scenario. Any other text may be, or become, the path of a file, and therefore cannot be
// set.
constexpr std::array<std::string_view, 17> kHarmlessTexts{
    "Kernel.name",           "Kernel.after",           "SharedTensor.stream", "SharedTensor.of",       "Reservation.kernel",
    "SmShare.kernel",        "Quota.kernel",           "ByPriority.order",    "WarpSpecialized.guest", "WarpSpecialized.host",
    "CtaInterleaved.kernel", "WarpInterleaved.kernel", "HopperGemm.library",  "BlackwellGemm.library", "AmpereGemm.library",
    "Scenario.name",         "Scenario.description",
};

bool has(const std::vector<std::string>& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps(1);
  for (const char letter : path) {
    if (letter == ']') continue;
    if (letter == '.' || letter == '[') {
      steps.emplace_back();
    } else {
      steps.back() += letter;
    }
  }
  return steps;
}

class SettingCheck {
 public:
  SettingCheck(const configs::Change& change, const Names& names) : change_(change), names_(names), steps_(steps_of(change.path)) {}

  Expected<void> run() const {
    const std::string& first = steps_.front();
    if (first.empty() || (std::isalpha(static_cast<unsigned char>(first.front())) == 0 && first.front() != '_'))
      return refuse("a field's path begins with a letter");
    if (change_.verb == configs::Verb::kRemove || change_.verb == configs::Verb::kUnset) return {};
    // Groups of the GPU and fields of a block may be named without their enclosing group.
    for (const pb::Descriptor* root : {configs::Scenario::descriptor(), configs::Gpu::descriptor(), configs::Block::descriptor()}) {
      if (root->FindFieldByName(first) != nullptr || first.find('*') != std::string::npos) return below(*root, 0);
    }
    if (steps_.size() == 1 && is_number(change_.value)) return {};  // a parameter of the scenario
    return refuse("neither a field of a scenario nor a parameter with a number");
  }

 private:
  // Checks that the path, from its step `at` on, leads only to values that may be set, whichever fields and elements it matches.
  // Below a wildcard, fields that do not match are fine: the setting skips them too.
  Expected<void> below(const pb::Descriptor& type, size_t at, bool below_wildcard = false) const {
    const std::string& name = steps_[at];
    if (name.find('*') == std::string::npos) {
      const pb::FieldDescriptor* field = type.FindFieldByName(name);
      if (field != nullptr) return enter(*field, at, below_wildcard);
      return below_wildcard ? Expected<void>() : refuse("unknown field " + escape::quoted(name));
    }
    for (int f = 0; f < type.field_count(); ++f) {
      if (auto entered = enter(*type.field(f), at, true); !entered) return entered;
    }
    return {};
  }

  Expected<void> enter(const pb::FieldDescriptor& field, size_t at, bool below_wildcard) const {
    size_t next = at + 1;
    if (field.is_repeated() && field.message_type() != nullptr && next < steps_.size()) ++next;  // the element's step
    if (next < steps_.size()) {
      if (field.message_type() != nullptr) return below(*field.message_type(), next, below_wildcard);
      return below_wildcard ? Expected<void>() : refuse(escape::quoted(field.name()) + " is a plain value");
    }
    if (field.message_type() == nullptr) return leaf(field, change_.value);
    if (change_.verb == configs::Verb::kAdd) return group(field);
    return below_wildcard ? Expected<void>() : refuse(escape::quoted(field.name()) + " is a group; name one of its fields");
  }

  // Checks all fields of an element that is added.
  Expected<void> group(const pb::FieldDescriptor& field) const {
    std::string_view text = change_.value;
    const size_t open = text.find_first_not_of(' ');
    const size_t close = text.find_last_not_of(' ');
    if (open != std::string_view::npos && text[open] == '{' && text[close] == '}') text = text.substr(open + 1, close - open - 1);
    const std::unique_ptr<pb::Message> element(pb::MessageFactory::generated_factory()->GetPrototype(field.message_type())->New());
    if (auto parsed = configs::parse_text("", text, *element); !parsed) return refuse(parsed.error().message);
    return all_of(*element);
  }

  Expected<void> all_of(const pb::Message& message) const {
    const pb::Reflection& reflection = *message.GetReflection();
    std::vector<const pb::FieldDescriptor*> present;
    reflection.ListFields(message, &present);
    for (const pb::FieldDescriptor* field : present) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        Expected<void> checked;
        if (field->message_type() != nullptr) {
          checked = all_of(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                : reflection.GetMessage(message, field));
        } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) {
          checked = leaf(*field, field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                      : reflection.GetString(message, field));
        }
        if (!checked) return checked;
      }
    }
    return {};
  }

  Expected<void> leaf(const pb::FieldDescriptor& field, const std::string& value) const {
    if (field.cpp_type() != pb::FieldDescriptor::CPPTYPE_STRING) return {};
    const std::string name = field.containing_type()->name() + "." + field.name();
    if (std::ranges::find(kHarmlessTexts, name) != kHarmlessTexts.end()) return {};
    const bool gpu = name == "Scenario.gpu_file";
    if (!gpu && name != "Block.model") return refuse("the page cannot set a text that may name a file");
    if (has(gpu ? names_.gpus : names_.models, value)) return {};
    return refuse("no installed " + std::string(gpu ? "GPU" : "model") + " is called " + escape::quoted(value) +
                  suggestion(value, gpu ? names_.gpus : names_.models));
  }

  Expected<void> refuse(const std::string& why) const { return fail("--set " + escape::unquoted(change_.path) + ": " + why); }

  const configs::Change& change_;
  const Names& names_;
  std::vector<std::string> steps_;
};

class Reader {
 public:
  Reader(std::string_view text, const Names& names) : rest_(text), names_(names) {}

  Expected<Question> read() {
    for (size_t lines = 0; !rest_.empty(); ++lines) {
      if (lines == kMostLines) return fail("a question has at most " + std::to_string(kMostLines) + " lines");
      const std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
      if (line.empty()) continue;
      if (const std::string why = escape::why_unprintable(line); !why.empty())
        return fail("a line of the question cannot be shown: " + why);
      const size_t blank = line.find(' ');
      if (blank == std::string_view::npos) return fail("a line of the question is a word and a value, not " + escape::quoted(line));
      if (auto taken = take(line.substr(0, blank), std::string(line.substr(blank + 1))); !taken)
        return std::unexpected(taken.error());
    }
    if (question_.ask.empty() || question_.scenario.empty()) return fail("a question needs lines ask and scenario");
    if ((question_.ask == "study") == question_.axes.empty()) return fail("a study, and nothing else, has an axis");
    if (question_.ask != "cycles" && !question_.window.empty()) return fail("a window of cycles is of a question for cycles");
    return std::move(question_);
  }

 private:
  Expected<void> take(std::string_view word, const std::string& value) {
    if (word == "set" || word == "unset") return take_change(word == "set", value);
    if (word == "axis") return take_axis(value);
    if (word == "session") return take_session(value);
    if (word == "ask") return choose(question_.ask, "ask", value, {kAsks.begin(), kAsks.end()});
    if (word == "scenario") return choose(question_.scenario, "scenario", value, names_.scenarios);
    if (word == "gpu") return choose(question_.gpu, "gpu", value, names_.gpus);
    if (word == "policy") return choose(question_.policy, "policy", value, policies());
    if (word == "policies") return take_policies(value);
    if (std::ranges::find(kWindowWords, word) != kWindowWords.end()) return take_window(word, value);
    return fail("a question has no word " + escape::quoted(word));
  }

  static Expected<void> choose(std::string& into, const std::string& what, const std::string& value,
                               const std::vector<std::string>& known) {
    if (!has(known, value)) return fail(what + ": unknown name " + escape::quoted(value) + suggestion(value, known));
    into = value;
    return {};
  }

  static std::vector<std::string> policies() {
    std::vector<std::string> names;
    const pb::EnumDescriptor& kinds = *configs::PolicyKind_descriptor();
    for (int v = 0; v < kinds.value_count(); ++v) names.push_back(kinds.value(v)->name());
    return names;
  }

  Expected<void> take_policies(const std::string& list) {
    for (size_t at = 0; at <= list.size();) {
      const size_t comma = std::min(list.find(',', at), list.size());
      std::string unused;
      if (auto known = choose(unused, "policies", list.substr(at, comma - at), policies()); !known) return known;
      at = comma + 1;
    }
    question_.policies = list;
    return {};
  }

  Expected<void> take_window(std::string_view word, const std::string& value) {
    if (!is_number(value)) return fail(std::string(word) + ": a number of digits alone, not " + escape::quoted(value));
    question_.window.insert(question_.window.end(), {"--" + std::string(word), value});
    return {};
  }

  Expected<void> take_session(const std::string& name) {
    const bool plain = std::ranges::all_of(name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '-'; });
    if (!plain || name.size() > kMostSession) return fail("session: letters, digits and -, at most 40");
    question_.session = name;
    return {};
  }

  Expected<void> take_change(bool set, const std::string& value) {
    const auto change = set ? configs::parse_change(value) : configs::parse_setting(configs::unset_setting(value));
    if (!change) return fail(change.error().message);
    if (auto checked = SettingCheck(*change, names_).run(); !checked) return checked;
    question_.changes.insert(question_.changes.end(), {set ? "--set" : "--unset", value});
    return {};
  }

  Expected<void> take_axis(const std::string& value) {
    const size_t equals = value.find('=');
    if (equals == std::string::npos) return fail("axis: PATH=VALUES, not " + escape::quoted(value));
    if (question_.axes.size() == kMostAxes) return fail("a study from the page has at most two axes");
    // A parameter's values are numbers or ranges, which read no file either.
    configs::Change change{configs::Verb::kSet, value.substr(0, equals), value.substr(equals + 1)};
    if (change.path.find('.') == std::string::npos) change.value = "0";
    if (change.path == "gpu") return fail("axis: the page varies fields and parameters, not gpu");
    if (auto checked = SettingCheck(change, names_).run(); !checked) return checked;
    question_.axes.push_back(value);
    return {};
  }

  std::string_view rest_;
  const Names& names_;
  Question question_;
};

}  // namespace

std::vector<std::string> Question::words() const {
  std::vector<std::string> words{ask, scenario};
  if (!gpu.empty()) words.insert(words.end(), {"--gpu", gpu});
  // The limits of kernels do not depend on the policy, so `model` takes none.
  if (!policy.empty() && (ask == "simulate" || ask == "whatif" || ask == "cycles")) words.insert(words.end(), {"--policy", policy});
  words.insert(words.end(), changes.begin(), changes.end());
  for (const std::string& axis : axes) words.insert(words.end(), {"--axis", axis});
  if (ask == "study" && !(policies.empty() && policy.empty()))
    words.insert(words.end(), {"--policies", policies.empty() ? policy : policies});
  if (ask == "compare") words.insert(words.end(), {"--policies", "all"});
  if (ask == "model") words.insert(words.end(), {"--interference", "none"});
  if (ask == "simulate") words.emplace_back("--timeline");
  words.insert(words.end(), window.begin(), window.end());
  words.insert(words.end(), {"--format", ask == "study" ? "csv" : "json"});
  return words;
}

std::string Question::command() const {
  std::string line = "warpfold";
  for (const std::string& word : words()) line += " " + cli::shell_word(word);
  return line;
}

Expected<Question> read_question(std::string_view text, const Names& names) { return Reader(text, names).read(); }

}  // namespace warpfold::serve
