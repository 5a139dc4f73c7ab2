#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Finished simulations, one file each: the next command goes on where an interrupted one ended. A file is the checksum of what
// follows, and JSON; one that is damaged does not count.
class RecordStore {
 public:
  explicit RecordStore(std::string folder) : folder_(std::move(folder)) {}

  // Makes the folder.
  Outcome<void> open() const;
  // False where no whole record of this name is there.
  bool find(const std::string& name, google::protobuf::Message& record) const;
  Outcome<void> save(const std::string& name, const google::protobuf::Message& record) const;

 private:
  std::string path(const std::string& name) const;

  std::string folder_;
};

// Hash of this program's own file: another build may simulate the same thing differently.
std::string program_hash();

}  // namespace warpfold::cli
