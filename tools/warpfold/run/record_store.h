#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Finished simulations, one file each, so that a command can continue where an interrupted command ended. A file contains a
// checksum and then JSON; a damaged file does not count.
class RecordStore {
 public:
  explicit RecordStore(std::string folder) : folder_(std::move(folder)) {}

  // Creates the folder if needed.
  Outcome<void> open() const;
  // Returns false if no intact record of this name exists.
  bool find(const std::string& name, google::protobuf::Message& record) const;
  Outcome<void> save(const std::string& name, const google::protobuf::Message& record) const;

 private:
  std::string path(const std::string& name) const;

  std::string folder_;
};

// Returns a hash of this program's own file, since another build may simulate the same scenario differently.
std::string program_hash();

}  // namespace warpfold::cli
