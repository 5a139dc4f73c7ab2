#include "configs/launch_sizes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::configs {
namespace {

constexpr uint64_t kMostProduct = uint64_t{1} << 62;
constexpr uint64_t kMostGrid = 2147483647;  // CTAs each way

std::string at(const std::string& field, int index) { return field + "[" + std::to_string(index) + "]"; }

class Sizes {
 public:
  Sizes(KernelLaunch launch, const Places& places) : launch_(std::move(launch)), places_(places) {}

  Expected<KernelLaunch> fill() {
    for (const auto step : {&Sizes::choose, &Sizes::fill_grid, &Sizes::fill_arrays}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    }
    return std::move(launch_);
  }

 private:
  Expected<uint64_t> value_of(const std::string& name, const std::string& path) const {
    std::vector<std::string> names;
    for (int i = 0; i < launch_.parameter_size(); ++i) {
      const KernelParameter& parameter = launch_.parameter(i);
      if (!parameter.has_value()) continue;
      names.push_back(parameter.name());
      if (parameter.name() != name) continue;
      if (parameter.value() > 0) return static_cast<uint64_t>(parameter.value());
      return places_.fail(
          {at("parameter", i) + ".value", "a size follows from " + escape::quoted(name) + "; it must be at least 1"});
    }
    return places_.fail({path, "no parameter with a value is called " + escape::quoted(name) + suggestion(name, names)});
  }

  Expected<uint64_t> product(const google::protobuf::RepeatedPtrField<std::string>& names, uint64_t result,
                             const std::string& path) const {
    for (int i = 0; i < names.size(); ++i) {
      const auto value = value_of(names.Get(i), path + "." + at("per", i));
      if (!value) return std::unexpected(value.error());
      if (__builtin_mul_overflow(result, *value, &result) || result > kMostProduct)
        return places_.fail({path, "the product of " + escape::quoted(names.Get(i)) + " and those before it is too large"});
    }
    return result;
  }

  Expected<void> choose() {
    if (launch_.choice().empty()) return {};
    for (int i = 0; i < launch_.choice_size(); ++i) {
      const LaunchChoice choice = launch_.choice(i);
      if (choice.has_up_to()) {
        const auto value = value_of(choice.parameter(), at("choice", i) + ".parameter");
        if (!value) return std::unexpected(value.error());
        if (choice.up_to() < 0 || *value > static_cast<uint64_t>(choice.up_to())) continue;
      }
      if (choice.has_function() && !launch_.has_function()) launch_.set_function(choice.function());
      if (choice.has_block() && !launch_.has_block()) *launch_.mutable_block() = choice.block();
      if (choice.has_grid_of() && !launch_.has_grid_of()) *launch_.mutable_grid_of() = choice.grid_of();
      launch_.mutable_answer()->MergeFrom(choice.answer());
      return {};
    }
    const LaunchChoice& last = *launch_.choice().rbegin();
    return places_.fail({at("choice", launch_.choice_size() - 1) + ".up_to",
                         "no choice is for more than " + std::to_string(last.up_to()) + " " + last.parameter()});
  }

  Expected<void> fill_way(const GridSize& size, const std::string& way, bool stated, void (Extent3::*set)(uint32_t)) {
    if (stated) return {};
    const std::string path = "grid_of." + way;
    const uint64_t divide = size.has_divide() ? size.divide() : 1;
    if (divide == 0) return places_.fail({path + ".divide", "divide must be at least 1, not 0"});
    const auto ctas = product(size.per(), 1, path);
    if (!ctas) return std::unexpected(ctas.error());
    const uint64_t rounded = (*ctas + divide - 1) / divide;
    if (rounded > kMostGrid) return places_.fail({path, std::to_string(rounded) + " CTAs; a grid has at most 2147483647 each way"});
    (launch_.mutable_grid()->*set)(static_cast<uint32_t>(rounded));
    return {};
  }

  Expected<void> fill_grid() {
    if (!launch_.has_grid_of()) return {};
    const GridOf of = launch_.grid_of();
    const Extent3 grid = launch_.grid();
    if (of.has_x()) {
      if (auto filled = fill_way(of.x(), "x", grid.has_x(), &Extent3::set_x); !filled) return filled;
    }
    if (of.has_y()) {
      if (auto filled = fill_way(of.y(), "y", grid.has_y(), &Extent3::set_y); !filled) return filled;
    }
    return of.has_z() ? fill_way(of.z(), "z", grid.has_z(), &Extent3::set_z) : Expected<void>{};
  }

  Expected<void> fill_arrays() {
    for (int i = 0; i < launch_.array_size(); ++i) {
      KernelArray& array = *launch_.mutable_array(i);
      if (array.per().empty()) continue;
      const auto bytes = product(array.per(), array.has_bytes() ? array.bytes() : 1, at("array", i));
      if (!bytes) return std::unexpected(bytes.error());
      array.set_bytes(*bytes);
      array.clear_per();
    }
    return {};
  }

  KernelLaunch launch_;
  const Places& places_;
};

}  // namespace

void settle_architecture(KernelLaunch& launch, const Gpu& gpu) {
  if (launch.runs_on() == kAnyArchitecture) launch.set_runs_on(gpu.architecture());
}

Expected<KernelLaunch> with_sizes(KernelLaunch launch, const Places& places) { return Sizes(std::move(launch), places).fill(); }

}  // namespace warpfold::configs
