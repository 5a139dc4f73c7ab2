#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// A fault of a value in a merged message. `path` names the value: "kernel[0].philox.rounds".
struct Finding {
  std::string path;
  std::string message;
};

// Remembers where each value of a merged message was written: files in the order in which they were merged (base first), then
// values set one by one (command line, parameters).
class Places {
 public:
  // `prefix` is the way from the merged message to the file's message, for example "gpu."; empty for the root.
  void add_file(const std::string& file, const std::string& prefix, const google::protobuf::Descriptor& type,
                std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> locations);
  // Puts the files of `lower` before the files here, which override them.
  void put_below(Places lower);
  // `place` is a Diagnostic whose message does not matter.
  void add_value(const std::string& path, Diagnostic place);
  // `message`, which is merged now, restates values below `prefix`. Values set there one by one are forgotten.
  void supersede(const std::string& prefix, const google::protobuf::Message& message);
  // Removes the element "kernel[2]" from its list. The elements behind it move up.
  void remove_element(const std::string& path);
  const std::map<std::string, Diagnostic>& values() const { return values_; }

  // Returns the place of `path`, or of the innermost group around it that was written; otherwise the last file.
  Diagnostic find(const std::string& path) const;
  // Returns the finding at that place. A finding about a message that no file stated keeps its path.
  std::unexpected<Diagnostic> fail(const Finding& finding) const;
  // Returns the diagnostic at the place of the field that it names, if that field was written.
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
    size_t files;  // files merged before the removal; they count the element
  };
  std::vector<File> files_;
  std::map<std::string, Diagnostic> values_;
  std::vector<Removed> removed_;
};

}  // namespace warpfold::configs
