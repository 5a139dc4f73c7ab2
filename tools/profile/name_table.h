#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "tools/profile/kernel_names.pb.h"

namespace re2 {
class RE2;
}

namespace warpfold::profile {

// A kernel's name as a rule reads it.
struct NamedKernel {
  const NameRule* rule;
  std::map<std::string, std::string> groups;  // of the pattern that took part, by name; words translated
};

// kernel_names.textproto, compiled. Matching takes time linear in the name (RE2).
class NameTable {
 public:
  // Fails, with file:line:column, where a rule's pattern is wrong or a column is unknown.
  static Expected<NameTable> parse(const std::string& file, const std::string& text);
  // The table that the program has.
  static const NameTable& embedded();

  NameTable(NameTable&&) noexcept;
  ~NameTable();
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  NameTable& operator=(NameTable&&) = delete;

  // The first rule whose pattern is found; none: `rule` is null.
  NamedKernel find(const std::string& name) const;

 private:
  NameTable();

  KernelNames names_;
  std::map<std::string, std::string> words_;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;  // of names_.rule
};

// "void at::native::(anonymous namespace)::f<int>(int)" -> "f<int>": without the return type, namespaces and parameters, and at
// most `most` characters.
std::string short_name(const std::string& name, size_t most);

}  // namespace warpfold::profile
