#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Something wrong with a value of a merged message. `path` names it as in "kernel[0].philox.rounds".
struct Finding {
  std::string path;
  std::string message;
};

// Remembers where each value of a merged message was written: files in the order in which they were merged (base first), then
// values set one by one (command line, parameters).
class Places {
 public:
  // `prefix`: where the file's message sits in the merged one, for example "gpu."; empty for the top.
  void add_file(const std::string& file, const std::string& prefix, const google::protobuf::Descriptor& type,
                std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> locations);
  // Puts the files of `lower` before the ones here: what is written here overrides them.
  void put_below(Places lower);
  // `place` is a Diagnostic whose message does not matter.
  void add_value(const std::string& path, Diagnostic place);
  // `message`, which is merged now, gives values below `prefix` anew: what was set there one by one no longer stands.
  void supersede(const std::string& prefix, const google::protobuf::Message& message);
  // The element "kernel[2]" goes out of its list; those behind it move up.
  void remove_element(const std::string& path);
  const std::map<std::string, Diagnostic>& values() const { return values_; }

  // The place of `path`, or of the innermost group around it that was written somewhere; otherwise the last file.
  Diagnostic find(const std::string& path) const;
  // At that place; a finding about a message that no file gave keeps its path.
  std::unexpected<Diagnostic> fail(const Finding& finding) const;
  // The same diagnostic at the place of the field that it names, if it names one that was written.
  Diagnostic located(Diagnostic diagnostic) const;

 private:
  struct File {
    std::string name;
    std::string prefix;
    const google::protobuf::Descriptor* type;
    std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> locations;
  };
  struct Removed {
    std::string list;
    int index;
    size_t files;  // that were there: they count the element
  };
  std::vector<File> files_;
  std::map<std::string, Diagnostic> values_;
  std::vector<Removed> removed_;
};

}  // namespace warpfold::configs
