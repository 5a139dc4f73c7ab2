#include "traces/accelsim/launch_classes.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "configs/escape/quoted.h"
#include "traces/validate.h"

namespace warpfold::traces::accelsim {
namespace {

using Programs = std::vector<uint32_t>;  // by warp of a CTA

// A program without its trip counts, and the trip counts in text order.
struct Shape {
  std::vector<uint64_t> words;
  std::vector<uint64_t> trips;
};

constexpr uint64_t kBegin = uint64_t{1} << 40;
constexpr uint64_t kEnd = uint64_t{2} << 40;

void append_shape(const ProgramArena& arena, uint32_t list, Shape& shape) {
  for (const Symbol symbol : arena.list(list)) {
    if (!symbol.is_loop()) {
      shape.words.push_back(symbol.number());
      continue;
    }
    shape.words.push_back(kBegin);
    shape.trips.push_back(arena.loop(symbol).trips);
    append_shape(arena, arena.loop(symbol).body, shape);
    shape.words.push_back(kEnd);
  }
}

// Values per class of one trip count, or of the flag that a variant runs.
using Column = std::vector<uint64_t>;

class Builder {
 public:
  Builder(const ProgramArena& arena, const std::vector<Programs>& classes, const LaunchClasses::Maker& maker, Kernel& kernel)
      : arena_(arena), classes_(classes), maker_(maker), kernel_(kernel) {}

  Expected<void> build() {
    const size_t warps = classes_.front().size();
    for (size_t warp = 0; warp < warps;) {
      size_t end = warp + 1;
      while (end < warps && same(warp, end)) ++end;
      if (auto added = add_role(warp, end); !added) return added;
      warp = end;
    }
    for (size_t c = 0; c < classes_.size(); ++c) {
      CtaClass cta_class{.name = "class" + std::to_string(c), .values = {}};
      for (const Column& column : columns_) cta_class.values.push_back(column[c]);
      kernel_.cta_classes.push_back(std::move(cta_class));
    }
    return {};
  }

 private:
  bool same(size_t warp, size_t other) const {
    return std::ranges::all_of(classes_, [&](const Programs& programs) { return programs[warp] == programs[other]; });
  }

  struct Variant {
    uint32_t program = 0;  // any program of this shape
    std::vector<size_t> classes;
    std::vector<Column> trips;  // by loop, in the order of `classes`
  };

  Expected<void> add_role(size_t first, size_t end) {
    std::map<std::vector<uint64_t>, Variant> by_shape;
    for (size_t c = 0; c < classes_.size(); ++c) {
      Shape shape;
      append_shape(arena_, classes_[c][first], shape);
      Variant& variant = by_shape[shape.words];
      if (variant.classes.empty()) variant.program = classes_[c][first];
      variant.classes.push_back(c);
      variant.trips.resize(shape.trips.size());
      for (size_t l = 0; l < shape.trips.size(); ++l) variant.trips[l].push_back(shape.trips[l]);
    }
    Role role{
        .name = first + 1 == end ? "warp" + std::to_string(first) : "warps" + std::to_string(first) + "-" + std::to_string(end - 1),
        .warps = static_cast<uint32_t>(end - first),
        .body = {}};
    for (const auto& [words, variant] : by_shape) {
      const bool alone = by_shape.size() == 1;
      const int depth = arena_.depth(variant.program) + (alone ? 0 : 1);
      if (depth > kDeepestLoops) {
        return fail("role " + escape::unquoted(role.name) + ": " + std::to_string(depth) +
                    " loops inside each other; Warpfold has " + std::to_string(kDeepestLoops));
      }
      size_t loop = 0;
      std::vector<Node> body = body_of(variant.program, variant, loop);
      if (alone) {
        role.body = std::move(body);
      } else if (!body.empty()) {
        Column runs(classes_.size(), 0);
        for (const size_t c : variant.classes) runs[c] = 1;
        role.body.emplace_back(Loop{.trips = trip_count(runs), .body = std::move(body)});
      }
    }
    add_instruction(maker_.last_exit(), role.body);
    kernel_.roles.push_back(std::move(role));
    return {};
  }

  static void add_instruction(isa::Instruction instruction, std::vector<Node>& body) {
    if (body.empty() || !std::holds_alternative<Block>(body.back())) body.emplace_back(Block{});
    std::get<Block>(body.back()).code.push_back(std::move(instruction));
  }

  std::vector<Node> body_of(uint32_t list, const Variant& variant, size_t& loop) {
    std::vector<Node> body;
    for (const Symbol symbol : arena_.list(list)) {
      if (!symbol.is_loop()) {
        add_instruction(maker_.instruction(symbol.number()), body);
        continue;
      }
      const Column& trips = variant.trips[loop++];
      Column all(classes_.size(), 1);
      for (size_t i = 0; i < variant.classes.size(); ++i) all[variant.classes[i]] = trips[i];
      const bool constant = std::ranges::all_of(trips, [&](uint64_t each) { return each == trips.front(); });
      Loop made{.trips = constant ? TripCount{.literal = trips.front()} : trip_count(all), .body = {}};
      made.body = body_of(arena_.loop(symbol).body, variant, loop);
      body.emplace_back(std::move(made));
    }
    return body;
  }

  TripCount trip_count(const Column& values) {
    const auto known = std::ranges::find(columns_, values);
    const auto index = known - columns_.begin();
    if (known == columns_.end()) {
      columns_.push_back(values);
      kernel_.parameters.push_back("trips" + std::to_string(index));
    }
    return {.parameter = static_cast<int32_t>(index)};
  }

  const ProgramArena& arena_;
  const std::vector<Programs>& classes_;
  const LaunchClasses::Maker& maker_;
  Kernel& kernel_;
  std::vector<Column> columns_;
};

}  // namespace

void LaunchClasses::add(uint64_t cta, uint32_t warp, uint32_t program) {
  Programs& programs = ctas_[cta];
  if (warp >= programs.size()) programs.resize(warp + 1);
  programs[warp] = program + 1;
}

bool LaunchClasses::uneven(uint64_t& cta, uint32_t& warp) const {
  size_t warps = 0;
  for (const auto& [number, programs] : ctas_) warps = std::max(warps, programs.size());
  for (size_t w = 0; w < warps; ++w) {
    const auto runs = [w](const auto& each) { return w < each.second.size() && each.second[w] != 0; };
    const auto without = std::ranges::find_if_not(ctas_, runs);
    if (without == ctas_.end() || std::ranges::none_of(ctas_, runs)) continue;
    cta = without->first;
    warp = static_cast<uint32_t>(w);
    return true;
  }
  return false;
}

Expected<void> LaunchClasses::build(const Maker& maker, Kernel& kernel) const {
  std::map<Programs, uint32_t> numbers;
  std::vector<Programs> classes;
  for (const auto& [cta, programs] : ctas_) {
    Programs present;
    for (const uint32_t each : programs) {
      if (each != 0) present.push_back(each - 1);
    }
    const auto [known, made] = numbers.try_emplace(present, static_cast<uint32_t>(classes.size()));
    if (made) classes.push_back(present);
    if (!kernel.grid.empty() && kernel.grid.back().cta_class == known->second) {
      ++kernel.grid.back().count;
    } else {
      kernel.grid.push_back({known->second, 1});
    }
  }
  return Builder(arena_, classes, maker, kernel).build();
}

}  // namespace warpfold::traces::accelsim
