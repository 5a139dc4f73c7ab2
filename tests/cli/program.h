#pragma once

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace warpfold::cli {

// The result of a run of the program.
struct Ended {
  int exit_code = -1;  // -1: killed by a signal
  std::string out;
  std::string err;
};

// Runs the built program in a scratch folder of its own, with nothing on its terminal.
class Program : public testing::Test {
 protected:
  Program();
  ~Program() override;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Ended run(const std::vector<std::string>& arguments) const;
  // Returns the program's output with --format json as a message; throws with the program's error message if it fails.
  template <typename Message>
  Message message(const std::vector<std::string>& arguments) const {
    Message message;
    read_message(arguments, message);
    return message;
  }
  // Returns the program's message about wrong input. If the exit code is not 2, or if there is output, returns that fact instead.
  std::string refused(const std::vector<std::string>& arguments) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  std::vector<std::string> files() const;  // names in the folder, sorted

 private:
  void read_message(std::vector<std::string> arguments, google::protobuf::Message& message) const;

  std::filesystem::path folder_;
};

// Two Philox kernels on an H100, small enough to be simulated in milliseconds.
std::string small_scenario();

// Returns a kernel in the text form of traces whose only warp waits for an mbarrier that no arrival completes.
std::string stuck_kernel();

}  // namespace warpfold::cli
