#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "configs/study.pb.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Finished points in a folder that processes on several machines share. Each process appends to a file of its own, all read all of
// them. A point is a line:
//
//   points/node7-4121-88120.points:    5f0c3a1be2d94407 6018f346e30a3b1b 153 {"run":[{"policy":"SEQUENTIAL","total_time_us":15.9...
//                                      checksum of      key              ms  the point as JSON
//                                      what follows
//
// A line counts when its checksum holds: one that a killed process, or a file server, has left half written does not. The first
// record of a key stays; a second one, of a point that two processes have simulated, is the same. Safe for several threads.
class PointLog {
 public:
  PointLog(std::filesystem::path folder, std::string writer) : folder_(std::move(folder)), writer_(std::move(writer)) {}

  // Makes the folder and reads what is there.
  Outcome<void> open();
  // Reads what has come since.
  void refresh();
  bool has(const std::string& key) const;
  std::optional<configs::StudyPoint> find(const std::string& key) const;
  Outcome<void> append(const std::string& key, uint64_t milliseconds, const configs::StudyPoint& point);
  // Of all points in the folder, whatever their keys; none: nothing has been simulated yet.
  std::optional<double> mean_milliseconds() const;

 private:
  struct Place {
    std::string file;
    uint64_t offset = 0;  // of the JSON
    uint64_t length = 0;
  };

  void read_on(const std::string& file);
  bool take(const std::string& file, uint64_t offset, const std::string& line);

  std::filesystem::path folder_;
  std::string writer_;
  mutable std::mutex mutex_;
  std::map<std::string, Place> points_;   // by key
  std::map<std::string, uint64_t> read_;  // bytes of each file whose lines hold
  uint64_t milliseconds_ = 0;             // of all points
  uint64_t count_ = 0;
};

}  // namespace warpfold::cli
