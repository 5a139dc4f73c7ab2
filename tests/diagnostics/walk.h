#pragma once

#include <google/protobuf/message.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/warpfold/commands/dispatch.h"

namespace warpfold::test {

// Collects the program's messages about inputs with one fault each. Every refusal of a file must say file, line and column, in at
// most kMostBytes and one line.
class Walk {
 public:
  static constexpr size_t kMostBytes = 1500;

  Walk();
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Writes `text` as `name` in a scratch folder and runs the program with `words`, after replacing FILE by its path and FOLDER/ by
  // the folder. Returns the message; empty if the program accepts the input.
  std::string ask(const std::string& name, const std::string& text, const std::vector<std::string>& words = {"check", "FILE"});
  // The same of an input that is refused with `message` in it.
  void ask_for(const std::string& message, const std::string& name, const std::string& text,
               const std::vector<std::string>& words = {"check", "FILE"});
  // Writes a file that the tested files refer to.
  void write(const std::string& name, const std::string& text) const;
  // The same for a message in whose `part` (none: the whole) every field is changed in turn; fields that were walked before are
  // left out.
  void ask_of_each_field(const std::string& name, google::protobuf::Message& message,
                         const std::vector<std::string>& words = {"check", "FILE"}, google::protobuf::Message* part = nullptr);
  // The same for a text whose every word is changed in turn: left out, doubled, replaced; and cut off. At most `most` inputs.
  void ask_of_each_word(const std::string& name, const std::string& text, size_t most,
                        const std::vector<std::string>& words = {"check", "FILE"});
  std::filesystem::path folder() const { return folder_; }
  size_t asked() const { return asked_; }
  size_t refused() const { return refused_; }

 private:
  void check(const cli::Failure& failure);
  void change_fields(google::protobuf::Message& at, const std::function<void()>& ask, int depth);

  std::filesystem::path folder_;
  std::set<std::string> walked_;  // fields
  std::set<std::string> said_;
  size_t asked_ = 0;
  size_t refused_ = 0;
};

}  // namespace warpfold::test
