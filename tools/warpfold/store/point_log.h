#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Finished simulations, here points, in a folder that processes on several machines share. Each process appends to a file of its
// own and reads the files of all. A point is a line:
//
//   points/node7-4121-0.points:    5f0c3a1be2d94407 6018f346e30a3b1b 153 {"run":[{"policy":"SEQUENTIAL","total_time_us":15.9...
//                                checksum of      key              ms  the point as JSON
//                                the rest
//
// A line counts only if its checksum holds; a killed process or a file server may leave a line half written. If two
// processes simulate the same point, their records are equal; one of them counts. Safe for several threads.
class PointLog {
 public:
  explicit PointLog(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Creates the folder if needed and reads all records.
  Outcome<void> open();
  // Reads records added since the last read.
  void refresh();
  bool has(const std::string& key) const;
  // Reads the point of a key; returns false if there is none.
  bool find(const std::string& key, google::protobuf::Message& point) const;
  // `key`: 16 digits, as content_hash returns them.
  Outcome<void> append(const std::string& key, uint64_t milliseconds, const google::protobuf::Message& point);

 private:
  struct Place {
    std::string file;
    uint64_t offset = 0;  // of the JSON
    uint64_t length = 0;
  };

  int open_own();
  void read_on(const std::string& file);
  bool take(const std::string& file, uint64_t offset, const std::string& line);

  std::filesystem::path folder_;
  std::string own_;  // name of this process's log; empty before the first record
  mutable std::mutex mutex_;
  std::map<std::string, Place> points_;   // by key
  std::map<std::string, uint64_t> read_;  // bytes read of each file, up to the last line whose checksum holds
};

}  // namespace warpfold::cli
