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

// A kernel's name, and the rule that matches it.
struct NamedKernel {
  const NameRule* rule;
  std::map<std::string, std::string> groups;  // named groups of the pattern that took part in the match; known words translated
};

// The compiled kernel_names.textproto. Matching takes time linear in the name (RE2).
class NameTable {
 public:
  // Compiles the rules of `text`. Fails, with file:line:column, if a rule's pattern is wrong or a column is unknown.
  static Expected<NameTable> parse(const std::string& file, const std::string& text);
  // The table that is embedded in the program.
  static const NameTable& embedded();

  NameTable(NameTable&&) noexcept;
  ~NameTable();
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  NameTable& operator=(NameTable&&) = delete;

  // Returns the first rule whose pattern matches; `rule` is null if there is none.
  NamedKernel find(const std::string& name) const;

 private:
  NameTable();

  KernelNames names_;
  std::map<std::string, std::string> words_;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;  // one per names_.rule
};

// Shortens a name for display: "void at::native::(anonymous namespace)::f<int>(int)" -> "f<int>". Drops the return type, namespaces
// and parameters, and cuts the name to `most` characters.
std::string short_name(const std::string& name, size_t most);

}  // namespace warpfold::profile
