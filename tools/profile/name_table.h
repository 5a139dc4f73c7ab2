#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "tools/profile/kernel_names.pb.h"
#include "tools/profile/profile.h"

namespace re2 {
class RE2;
}

namespace warpfold::profile {

// A kernel's name, and the rule that matches it.
struct NamedKernel {
  const NameRule* rule;
  std::map<std::string, std::string> groups;  // named groups of the pattern that took part in the match; known words translated
  const Sequence* sequence = nullptr;         // of the rule
};

// The compiled kernel_names.textproto. Matching takes time linear in the name (RE2).
class NameTable {
 public:
  // Compiles the rules of `text`. Fails, with file:line:column, if a pattern or the value of a size is wrong.
  static Expected<NameTable> parse(const std::string& file, const std::string& text);
  // The table that is embedded in the program.
  static const NameTable& embedded();
  // A user's table: its rules and words come before those of the embedded table.
  static Expected<NameTable> load(const std::string& file);

  NameTable(NameTable&&) noexcept;
  ~NameTable();
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  NameTable& operator=(NameTable&&) = delete;

  // Returns the first rule whose patterns match the kernel's and its operator's name, and whose `when` holds for the launch; `rule`
  // is null if there is none.
  NamedKernel find(const LaunchShape& shape) const;
  NamedKernel find(const std::string& name, const std::string& operator_name = {}) const;
  // Returns whether the rule's `near` matches the name of another launch.
  bool is_near(const NameRule& rule, const std::string& name) const;
  // Launches after which the values of a kernel's sizes repeat: the least common multiple of their counts.
  static uint32_t turns(const NamedKernel& named);
  // The first turn whose values of the kernel's sequence are those of `turn`.
  static uint32_t equal_turn(const NamedKernel& named, uint32_t turn);

 private:
  // Patterns of a rule; null: the rule has none.
  struct Patterns {
    std::unique_ptr<re2::RE2> name;
    std::unique_ptr<re2::RE2> operator_name;
    std::unique_ptr<re2::RE2> near;
  };
  NameTable();
  const Sequence* sequence_of(const NameRule& rule) const;  // null: it names none

  KernelNames names_;
  std::map<std::string, std::string> words_;
  std::map<std::string, const Sequence*> sequences_;
  std::vector<Patterns> patterns_;      // one per names_.rule
  const NameTable* further_ = nullptr;  // tried if no rule here matches
};

// Shortens a name for display: "void at::native::(anonymous namespace)::f<int>(int)" -> "f<int>". Drops the return type, namespaces
// and parameters, and cuts the name to `most` characters.
std::string short_name(const std::string& name, size_t most);

}  // namespace warpfold::profile
