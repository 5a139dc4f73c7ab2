#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Finished simulations, one JSON file each, written whole or not at all: what an interrupted command has finished is there for the
// next.
class RecordStore {
 public:
  explicit RecordStore(std::string folder) : folder_(std::move(folder)) {}

  // Makes the folder.
  Outcome<void> open() const;
  // False: there is no record of this name, or it cannot be read.
  bool find(const std::string& name, google::protobuf::Message& record) const;
  Outcome<void> save(const std::string& name, const google::protobuf::Message& record) const;

 private:
  std::string path(const std::string& name) const;

  std::string folder_;
};

// Of this program's own code: another build may simulate the same thing differently.
std::string program_hash();

}  // namespace warpfold::cli
