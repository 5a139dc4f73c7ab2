#include "tools/warpfold/store/claim_chain.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "configs/escape/quoted.h"
#include "configs/write_file.h"

namespace warpfold::cli {

std::filesystem::path ClaimChain::path(size_t begin, int generation) const {
  std::ostringstream name;
  name << std::setw(8) << std::setfill('0') << begin << '.' << generation;
  return folder_ / name.str();
}

std::optional<ClaimChain::Claim> ClaimChain::read(size_t begin, int generation) const {
  std::ifstream file(path(begin, generation));
  Claim claim{.generation = generation};
  if (!(file >> claim.end >> claim.owner) || claim.end <= begin || claim.end > points_) return std::nullopt;
  return claim;
}

// The text is written to a draft first; link(2) then gives the draft the claim's name. If the answer gets lost, an NFS client may
// report a link as failed although the link exists: the draft's link count of two shows it.
Outcome<ClaimChain::Made> ClaimChain::make(size_t begin, int generation, size_t end) const {
  const std::filesystem::path draft = folder_ / ("draft-" + presence_.name());
  const auto failed = [&](int error) {
    return cannot_write("cannot claim points in " + escape::quoted_path(folder_.string()) + ": " + std::strerror(error));
  };
  const auto written = write_file(draft.string(), std::to_string(end) + " " + presence_.name() + "\n", FileWriter::Sync::kNo);
  if (!written) return cannot_write(written.error().text());
  const int linked = link(draft.c_str(), path(begin, generation).c_str());
  const int error = errno;
  struct stat status{};
  const bool ours = linked == 0 || (stat(draft.c_str(), &status) == 0 && status.st_nlink == 2);
  unlink(draft.c_str());
  if (ours) return Made::kYes;
  if (error == EEXIST) return Made::kThereAlready;
  return failed(error);
}

Outcome<std::optional<PointRange>> ClaimChain::next(const std::function<size_t(size_t begin)>& end_of) {
  const std::lock_guard lock(mutex_);
  while (frontier_ < points_) {
    const size_t begin = frontier_;
    std::optional<Claim> claim = read(begin, 0);
    bool made = false;
    if (!claim) {
      const size_t end = std::clamp(end_of(begin), begin + 1, points_);
      const auto outcome = make(begin, 0, end);
      if (!outcome) return std::unexpected(outcome.error());
      made = *outcome == Made::kYes;
      claim = made ? Claim{end, presence_.name(), 0} : read(begin, 0);
      // A machine that lost power may leave a claim without its text. The claim then counts as one point of an ended process.
      if (!claim) claim = Claim{.end = begin + 1};
    }
    claims_.emplace(begin, *claim);
    frontier_ = claim->end;
    if (made) return PointRange{begin, claim->end};
  }
  return std::nullopt;
}

Outcome<std::optional<PointRange>> ClaimChain::take_over(const std::function<bool(const PointRange&)>& unfinished) {
  const std::lock_guard lock(mutex_);
  for (auto& [begin, claim] : claims_) {
    const PointRange range{begin, claim.end};
    if (!unfinished(range)) continue;
    while (const auto newer = read(begin, claim.generation + 1)) claim = *newer;
    if (presence_.alive(claim.owner)) continue;
    const auto made = make(begin, claim.generation + 1, claim.end);
    if (!made) return std::unexpected(made.error());
    if (*made == Made::kThereAlready) continue;
    presence_.forget(claim.owner);
    claim = {claim.end, presence_.name(), claim.generation + 1};
    return range;
  }
  return std::nullopt;
}

}  // namespace warpfold::cli
