#include "walk.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "configs/escape/visible.h"

namespace warpfold::test {

namespace {

namespace pb = google::protobuf;

const std::string kLong(10'000, 'a');

// Removes the messages of an earlier run.
const bool kForgotten = std::filesystem::remove(DIAGNOSTICS_SAID);

// Values of a field that are likely to be wrong.
std::vector<std::function<void(pb::Message&)>> values_of(const pb::FieldDescriptor& field) {
  const pb::FieldDescriptor* f = &field;
  std::vector<std::function<void(pb::Message&)>> values;
  const bool list = field.is_repeated();
  const auto add = [&](auto set, auto append, auto... all) {
    (values.push_back([=](pb::Message& m) { list ? append(m, all) : set(m, all); }), ...);
  };
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      add([f](pb::Message& m, uint32_t v) { m.GetReflection()->SetUInt32(&m, f, v); },
          [f](pb::Message& m, uint32_t v) { m.GetReflection()->AddUInt32(&m, f, v); }, 0U, 1U, 7U, 192U, 100'000U, UINT32_MAX);
      break;
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      add([f](pb::Message& m, uint64_t v) { m.GetReflection()->SetUInt64(&m, f, v); },
          [f](pb::Message& m, uint64_t v) { m.GetReflection()->AddUInt64(&m, f, v); }, uint64_t{0}, uint64_t{1}, uint64_t{7},
          uint64_t{100'000}, uint64_t{UINT64_MAX});
      break;
    case pb::FieldDescriptor::CPPTYPE_INT32:
      add([f](pb::Message& m, int32_t v) { m.GetReflection()->SetInt32(&m, f, v); },
          [f](pb::Message& m, int32_t v) { m.GetReflection()->AddInt32(&m, f, v); }, -1, 0, 7, INT32_MAX);
      break;
    case pb::FieldDescriptor::CPPTYPE_INT64:
      add([f](pb::Message& m, int64_t v) { m.GetReflection()->SetInt64(&m, f, v); },
          [f](pb::Message& m, int64_t v) { m.GetReflection()->AddInt64(&m, f, v); }, int64_t{-1}, int64_t{0}, int64_t{INT64_MAX});
      break;
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      add([f](pb::Message& m, double v) { m.GetReflection()->SetDouble(&m, f, v); },
          [f](pb::Message& m, double v) { m.GetReflection()->AddDouble(&m, f, v); }, 0.0, -1.0, 1e-30, 1e30,
          std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
      break;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      add([f](pb::Message& m, bool v) { m.GetReflection()->SetBool(&m, f, v); },
          [f](pb::Message& m, bool v) { m.GetReflection()->AddBool(&m, f, v); }, false, true);
      break;
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      for (int v = 0; v < field.enum_type()->value_count(); ++v) {
        const pb::EnumValueDescriptor* value = field.enum_type()->value(v);
        if (value->name() == "AUTO") continue;  // simulates candidates
        values.push_back(
            [=](pb::Message& m) { list ? m.GetReflection()->AddEnum(&m, f, value) : m.GetReflection()->SetEnum(&m, f, value); });
      }
      break;
    case pb::FieldDescriptor::CPPTYPE_STRING:
      for (const std::string& value : {std::string(), std::string("nothing"), std::string("a b/<c>"), kLong}) {
        values.push_back([=](pb::Message& m) {
          list ? m.GetReflection()->AddString(&m, f, value) : m.GetReflection()->SetString(&m, f, value);
        });
      }
      break;
    default:
      break;
  }
  return values;
}

// Words, and the marks between them.
std::vector<std::pair<size_t, size_t>> words_of(const std::string& text) {
  const auto kind = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '_' ? 1 : std::isspace(byte) != 0 ? 0 : 2;
  };
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (kind(text[at]) == 1 && end < text.size() && kind(text[end]) == 1) ++end;
    if (kind(text[at]) != 0) words.emplace_back(at, end - at);
    at = end;
  }
  return words;
}

}  // namespace

Walk::Walk() {
  std::string name = (std::filesystem::temp_directory_path() / "warpfold-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

Walk::~Walk() {
  std::filesystem::remove_all(folder_);
  std::ofstream file(DIAGNOSTICS_SAID, std::ios::app);
  for (const std::string& each : said_) file << each << "\n";
}

void Walk::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

void Walk::ask_for(const std::string& message, const std::string& name, const std::string& text,
                   const std::vector<std::string>& words) {
  const std::string said = ask(name, text, words);
  EXPECT_NE(said.find(message), std::string::npos) << "expected: " << message << "\nsaid: " << escape::visible(said, kMostBytes);
}

std::string Walk::ask(const std::string& name, const std::string& text, const std::vector<std::string>& words) {
  const std::string path = (folder_ / name).string();
  write(name, text);
  std::vector<std::string> asked = words;
  for (std::string& word : asked) {
    word = word == "FILE" ? path : word == "OUT" ? (folder_ / "out.wfs").string() : word;
    if (word.starts_with("FOLDER/")) word.replace(0, 6, folder_.string());
  }
  ++asked_;
  const auto answer = cli::answer(asked);
  if (answer) return {};
  ++refused_;
  check(answer.error());
  return answer.error().text;
}

void Walk::check(const cli::Failure& failure) {
  const std::string& said = failure.text;
  if (!said_.insert(failure.diagnostic.message.substr(0, kMostBytes)).second) return;
  EXPECT_TRUE(failure.exit_code == cli::kUserError || failure.exit_code == cli::kDeadlock) << said;
  if (failure.exit_code != cli::kUserError) return;
  EXPECT_TRUE(!failure.diagnostic.file.empty() && failure.diagnostic.line > 0 && failure.diagnostic.column > 0)
      << "without a place: " << said.substr(0, kMostBytes);
  EXPECT_LE(said.size(), kMostBytes) << said.substr(0, kMostBytes);
  EXPECT_EQ(escape::why_unprintable(said), "") << escape::visible(said, kMostBytes);
}

void Walk::change_fields(pb::Message& at, const std::function<void()>& ask, int depth) {
  const pb::Descriptor& type = *at.GetDescriptor();
  const pb::Reflection& reflection = *at.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* field = type.field(i);
    const bool list = field->is_repeated();
    const bool there = list ? reflection.FieldSize(at, field) > 0 : reflection.HasField(at, field);
    const bool inside = field->message_type() != nullptr;
    if (inside && there && depth > 0) {
      const int size = list ? reflection.FieldSize(at, field) : 1;
      for (int e = 0; e < size; ++e)
        change_fields(list ? *reflection.MutableRepeatedMessage(&at, field, e) : *reflection.MutableMessage(&at, field), ask,
                      depth - 1);
    }
    if (!walked_.insert(field->full_name()).second) continue;
    const std::unique_ptr<pb::Message> kept(at.New());
    const auto try_it = [&](const auto& change) {
      kept->CopyFrom(at);
      change(at);
      ask();
      at.CopyFrom(*kept);
    };
    if (there) try_it([&](pb::Message& m) { reflection.ClearField(&m, field); });
    if (inside) {
      try_it([&](pb::Message& m) { list ? reflection.AddMessage(&m, field) : reflection.MutableMessage(&m, field); });
      if (list && there) {
        try_it([&](pb::Message& m) {
          const std::unique_ptr<pb::Message> first(reflection.GetRepeatedMessage(m, field, 0).New());
          first->CopyFrom(reflection.GetRepeatedMessage(m, field, 0));
          reflection.AddMessage(&m, field)->CopyFrom(*first);
        });
      }
      continue;
    }
    for (const auto& set : values_of(*field)) {
      try_it(set);
      if (list) {
        try_it([&](pb::Message& m) {
          reflection.ClearField(&m, field);
          set(m);
          set(m);
        });
      }
    }
  }
}

void Walk::ask_of_each_field(const std::string& name, pb::Message& message, const std::vector<std::string>& words,
                             pb::Message* part) {
  constexpr int kDeepest = 6;
  change_fields(
      part == nullptr ? message : *part,
      [&] {
        std::string text;
        pb::TextFormat::PrintToString(message, &text);
        ask(name, text, words);
      },
      kDeepest);
}

void Walk::ask_of_each_word(const std::string& name, const std::string& text, size_t most, const std::vector<std::string>& words) {
  const std::vector<std::string> others{"", "x", "99999999999999999999", "-1", "\"", "}", ";", "\x1b[31m\xff", kLong};
  const auto found = words_of(text);
  const size_t step = std::max<size_t>(1, found.size() * (others.size() + 2) / most);
  size_t count = 0;
  for (const auto& [at, length] : found) {
    for (size_t o = 0; o < others.size() + 2; ++o) {
      if (count++ % step != 0) continue;
      std::string changed = text;
      if (o < others.size()) {
        changed.replace(at, length, others[o]);
      } else if (o == others.size()) {
        changed.insert(at, text.substr(at, length) + " ");
      } else {
        changed.resize(at);
      }
      ask(name, changed, words);
    }
  }
}

}  // namespace warpfold::test
