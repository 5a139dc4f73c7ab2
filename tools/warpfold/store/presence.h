#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// A process that works in a shared folder, as the processes beside it see it: a file of its name, touched every few seconds, gone
// when the process ends in good order. A process that was killed leaves the file behind, and counts as ended
//   - on the same machine as soon as its process id is free or another's,
//   - in Slurm as soon as the same task of the same job has started again,
//   - else when its file has not been touched for `kSilence` by the clock of the file server.
// A process that was only held up may thus be taken for ended. Its points are then simulated twice, with the same bytes.
class Presence {
 public:
  static constexpr std::chrono::seconds kTouched{10};
  static constexpr std::chrono::seconds kSilence{60};

  // Makes the folder and the file, and removes those of processes of this machine that were killed. Fails where the folder cannot
  // be written.
  static Outcome<std::unique_ptr<Presence>> announce(const std::string& folder);
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  const std::string& name() const { return name_; }  // no other process has it, on any machine, at any time
  bool alive(const std::string& name) const;
  size_t count() const;                        // of processes that have not ended in good order, this one among them
  void forget(const std::string& name) const;  // of a process that has ended
  void withdraw() const;                       // as the destructor does; from any thread

 private:
  Presence(std::filesystem::path folder, std::string name);

  void forget_killed(const std::string& host) const;

  std::filesystem::path folder_;
  std::string name_;
  std::jthread heart_;
};

}  // namespace warpfold::cli
