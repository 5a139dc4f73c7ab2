#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warpfold::fuzz {

// Makes inputs of the files of a corpus: the same ones for a seed, by every compiler. libFuzzer looks for inputs that reach new
// code; this one stands in where it is not linked.
class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, uint64_t seed) : corpus_(std::move(corpus)), random_(seed) {}

  // One of the files with one to eight changes: of a bit, a byte, a run of bytes, a number, a part of another file.
  std::string next();

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }
  const std::string& any_file() { return corpus_[below(corpus_.size())]; }
  std::string any_part();
  void change(std::string& input);
  void change_number(std::string& input);

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace warpfold::fuzz
