#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// The presence of a process in a shared folder, as other processes see it: a file of the process's name that it touches every few
// seconds and removes at its orderly end. A killed process leaves the file behind. The process then counts as ended
//   - on the same machine, as soon as its process id is free or belongs to another process,
//   - in Slurm, as soon as the same task of the same job has started again,
//   - otherwise, once its file has not been touched for `kSilence` by the clock of the file server.
// A process that was only stalled may thus count as ended; other processes then simulate its points again, with the same bytes.
class Presence {
 public:
  static constexpr std::chrono::seconds kTouched{10};
  static constexpr std::chrono::seconds kSilence{60};

  // Creates the folder and this process's file, and removes files of killed processes of this machine. Fails if the folder cannot
  // be written.
  static Outcome<std::unique_ptr<Presence>> announce(const std::string& folder);
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  const std::string& name() const { return name_; }  // unique over all machines and times
  bool alive(const std::string& name) const;
  size_t count() const;                        // number of presence files, including this process's
  void forget(const std::string& name) const;  // removes the file of a process that has ended
  void withdraw() const;                       // removes this process's file, as the destructor does; from any thread

 private:
  Presence(std::filesystem::path folder, std::string name);

  void forget_killed(const std::string& host) const;

  std::filesystem::path folder_;
  std::string name_;
  std::jthread heart_;
};

}  // namespace warpfold::cli
