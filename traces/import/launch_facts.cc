#include "traces/import/launch_facts.h"

#include <algorithm>
#include <bit>

#include "configs/escape/quoted.h"
#include "configs/lengths.h"
#include "traces/validate.h"

namespace warpfold::sass {
namespace {

constexpr uint32_t kMostThreads = 1024;            // per CTA; CUDA programming guide, compute capabilities table
constexpr uint32_t kMostClusterCtas = 16;          // H100, non-portable size; CUDA programming guide, "Thread Block Clusters"
constexpr uint32_t kMostGrid = 0x7fffffff;         // in x; same table
constexpr uint64_t kMostCtas = uint64_t{1} << 48;  // per grid. assumed: years of any GPU
constexpr uint64_t kFirstArray = 0x7f0010000000;   // any address whose low word has room before it wraps, below and above
constexpr uint64_t kArrayDistance = uint64_t{1} << 40;
constexpr uint32_t kStack = 0xfffdc0;  // any address with room for local memory below it

constexpr uint64_t kConstantBank = 0x7e0010000000;  // any address of constant bank 0, for code that takes a parameter's address
constexpr uint32_t kTensorMapBytes = 128;           // CUDA driver API, CUtensorMap: 128 bytes
constexpr int kMostDimensions = 5;  // CUDA driver API, cuTensorMapEncodeTiled: rank 1 to 5, boxes of up to 256 elements
                                    // per dimension
constexpr uint32_t kLargestBoxSide = 256;
constexpr uint64_t kLargestBox = 227 * 1024;  // bytes of shared memory per CTA on sm_90; CUDA programming guide, table of features

// Places of the ABI that a launch fills in. Source: compiled code of CUDA 13.0. sm_80 and sm_90 read blockDim at
// c[0x0][0x0], gridDim at 0xc and the stack pointer at 0x28. sm_100 reads them at 0x360, 0x370 and 0x37c. sm_90 reads
// the address of the parameters, for tensor maps, at 0x198. It reads %is_explicit_cluster, %cluster_nctaid, its
// inverses as floats, and %nclusterid from 0x140 on, and %cluster_nctarank at 0x188.
struct Abi {
  uint32_t block;
  uint32_t grid;
  uint32_t stack;
  uint32_t descriptor;  // descriptor of global memory: two words whose value does not matter
  uint32_t parameters;
  uint32_t address_of_parameters;  // 0: unknown
  uint32_t cluster;                // 0: unknown
  uint32_t cluster_ctas;
};

Abi abi_of(const std::string& architecture) {
  const int number = std::atoi(architecture.c_str() + std::min<size_t>(3, architecture.size()));
  if (number >= 100) return {0x360, 0x370, 0x37c, 0x358, 0x380, 0, 0, 0};
  if (number >= 90) return {0x0, 0xc, 0x28, 0x208, 0x210, 0x198, 0x140, 0x188};
  return {0x0, 0xc, 0x28, 0x118, 0x160, 0, 0, 0};
}

std::array<uint32_t, 3> extents_of(const configs::Extent3& extent) {
  const auto or_one = [](bool has, uint32_t value) { return has ? value : 1; };
  return {or_one(extent.has_x(), extent.x()), or_one(extent.has_y(), extent.y()), or_one(extent.has_z(), extent.z())};
}

std::string indexed(const std::string& field, int index, const std::string& rest) {
  return field + "[" + std::to_string(index) + "]" + rest;
}

// Returns the cumulative weights 1 / (k + 1) of the numbers k below `count`. The unit keeps a million of them below
// 2^32.
std::vector<uint32_t> zipf_weights(uint32_t count) {
  constexpr uint32_t kFirst = 1U << 27;
  std::vector<uint32_t> sums;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < count; ++k) sums.push_back(sum += kFirst / (k + 1));
  return sums;
}

class Layout {
 public:
  Layout(const configs::KernelLaunch& launch, const std::string& architecture, const configs::Places& places,
         uint32_t tensor_map_alignment, std::span<const ListedParameter> listed)
      : launch_(launch),
        places_(places),
        tensor_map_alignment_(tensor_map_alignment),
        listed_(listed),
        abi_(abi_of(architecture)) {}

  Expected<LaunchFacts> make() {
    facts_.grid = extents_of(launch_.grid());
    facts_.block = extents_of(launch_.block());
    facts_.cluster = extents_of(launch_.cluster());
    for (const auto step : {&Layout::check_geometry, &Layout::add_arrays, &Layout::add_parameters, &Layout::add_answers}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    }
    for (uint32_t i = 0; i < 3; ++i) {
      put(abi_.block + 4 * i, {facts_.block[i]});
      put(abi_.grid + 4 * i, {facts_.grid[i]});
    }
    if (abi_.cluster != 0) put_cluster();
    put(abi_.stack, {kStack});
    facts_.parameters = kConstantBank + abi_.parameters;
    facts_.parameters_offset = abi_.parameters;
    facts_.signature.assign(listed_.begin(), listed_.end());
    if (abi_.address_of_parameters != 0) {
      const uint64_t address = kConstantBank + abi_.parameters;
      put(abi_.address_of_parameters, {static_cast<uint32_t>(address)});
      put(abi_.address_of_parameters + 4, {static_cast<uint32_t>(address >> 32)});
    }
    put(abi_.descriptor, {0});
    put(abi_.descriptor + 4, {0});
    return std::move(facts_);
  }

 private:
  void put(uint32_t offset, ConstantWord word) { facts_.constants[offset] = word; }

  void put_cluster() {
    put(abi_.cluster, {facts_.cluster_ctas() > 1 ? 1U : 0U});
    put(abi_.cluster_ctas, {facts_.cluster_ctas()});
    for (uint32_t i = 0; i < 3; ++i) {
      put(abi_.cluster + 4 + 4 * i, {facts_.cluster[i]});
      put(abi_.cluster + 16 + 4 * i, {.inverse = static_cast<int8_t>(i)});
      put(abi_.cluster + 28 + 4 * i, {facts_.clusters()[i]});
    }
  }

  Expected<void> check_resources() const {
    if (launch_.has_registers() && (launch_.registers() < 1 || launch_.registers() > traces::kMostRegisters))
      return places_.fail({"registers", "a thread has 1 to 255 registers, not " + std::to_string(launch_.registers())});
    if (launch_.shared_memory_bytes() > traces::kMostSharedMemory) {
      return places_.fail({"shared_memory_bytes", std::to_string(launch_.shared_memory_bytes()) +
                                                      " bytes of shared memory; a CTA has at most " +
                                                      std::to_string(traces::kMostSharedMemory)});
    }
    return {};
  }

  Expected<void> check_geometry() {
    if (!launch_.has_grid()) return places_.fail({"", "grid is missing: how many CTAs the launch has, as grid { x: 512 }"});
    if (!launch_.has_block()) return places_.fail({"", "block is missing: how many threads a CTA has, as block { x: 128 }"});
    for (int i = 0; i < 3; ++i) {
      if (facts_.grid[i] == 0 || facts_.grid[i] > kMostGrid)
        return places_.fail({std::string("grid.") + "xyz"[i], "a grid has 1 to 2147483647 CTAs each way"});
      if (facts_.cluster[i] == 0 || facts_.grid[i] % facts_.cluster[i] != 0) {
        return places_.fail({"cluster", "the grid is not made of whole clusters"});
      }
    }
    if (uint64_t{facts_.cluster[0]} * facts_.cluster[1] > kMostClusterCtas / facts_.cluster[2])
      return places_.fail({"cluster", "a cluster has 1 to 16 CTAs"});
    if (uint64_t{facts_.grid[0]} * facts_.grid[1] > kMostCtas / facts_.grid[2])
      return places_.fail({"grid", "a grid has at most " + std::to_string(kMostCtas) + " CTAs"});
    uint64_t threads = 1;
    for (const uint32_t side : facts_.block) {
      threads *= side;
      if (threads == 0 || threads > kMostThreads) return places_.fail({"block", "a CTA has 1 to 1024 threads"});
    }
    return check_resources();
  }

  Expected<void> add_arrays() {
    for (int i = 0; i < launch_.array_size(); ++i) {
      const configs::KernelArray& array = launch_.array(i);
      if (array.name().empty()) return places_.fail({indexed("array", i, ""), "an array needs a name"});
      if (array.bytes() == 0)
        return places_.fail({indexed("array", i, ""), "array " + escape::unquoted(array.name()) + " needs bytes, its size"});
      if (array.bytes() > kArrayDistance)
        return places_.fail({indexed("array", i, ".bytes"), "an array has at most " + std::to_string(kArrayDistance) + " bytes"});
      if (find(array.name()) >= 0)
        return places_.fail({indexed("array", i, ".name"), "the array " + escape::unquoted(array.name()) + " exists twice"});
      facts_.arrays.push_back({array.name(), kFirstArray + static_cast<uint64_t>(i) * kArrayDistance, array.bytes()});
    }
    return {};
  }

  int find(const std::string& name) const {
    for (size_t i = 0; i < facts_.arrays.size(); ++i) {
      if (facts_.arrays[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  Expected<void> add_parameters() {
    uint32_t next = 0;
    for (int i = 0; i < launch_.parameter_size(); ++i) {
      const configs::KernelParameter& parameter = launch_.parameter(i);
      const bool pointer = parameter.has_array();
      if (parameter.has_tensor_map()) {
        if (auto added = add_tensor_map(parameter, i, next); !added) return added;
        continue;
      }
      if (!parameter.has_offset()) next = listed_behind(next);
      const uint32_t start = parameter.has_offset() ? parameter.offset() : next;
      const uint32_t bytes = pointer ? 8 : parameter.has_bytes() ? parameter.bytes() : listed_bytes(start);
      if (auto checked = check_size(parameter, i, bytes); !checked) return checked;
      const bool listed = std::ranges::find(listed_, start, &ListedParameter::offset) != listed_.end();
      const uint32_t offset = parameter.has_offset() || listed ? start : (start + bytes - 1) / bytes * bytes;
      if (auto checked = check_listed(i, offset, bytes); !checked) return checked;
      if (const uint32_t least = std::min(bytes, 4U); offset % least != 0) {
        return places_.fail({indexed("parameter", i, ".offset"), "a parameter of " + std::to_string(bytes) +
                                                                     " bytes begins at a multiple of " + std::to_string(least)});
      }
      if (parameter.content_case() == configs::KernelParameter::CONTENT_NOT_SET) {
        return places_.fail({indexed("parameter", i, ""), "a parameter needs one of array, value and real"});
      }
      if (auto added = add_parameter(parameter, i, abi_.parameters + offset, bytes); !added) return added;
      next = offset + bytes;
    }
    return {};
  }

  // Returns the start of the signature's next parameter if the previous one ends at or before `next`.
  uint32_t listed_behind(uint32_t next) const {
    for (const ListedParameter& listed : listed_) {
      if (listed.offset >= next) return listed.offset;
      if (listed.offset + listed.bytes > next) return next;  // a struct, which contains several parameters of the description
    }
    return next;
  }

  uint32_t listed_bytes(uint32_t offset) const {
    constexpr uint32_t kUsual = 4;
    const auto found = std::ranges::find(listed_, offset, &ListedParameter::offset);
    const bool scalar = found != listed_.end() && (found->bytes == 1 || found->bytes == 2 || found->bytes == 8);
    return scalar ? found->bytes : kUsual;
  }

  // Checks a parameter against the signature. A struct of the signature may consist of several parameters of the
  // description.
  Expected<void> check_listed(int index, uint32_t offset, uint32_t bytes) const {
    for (const ListedParameter& listed : listed_) {
      const bool apart = offset + bytes <= listed.offset || listed.offset + listed.bytes <= offset;
      const bool inside = offset >= listed.offset && offset + bytes <= listed.offset + listed.bytes;
      const bool part_of_scalar = inside && bytes < listed.bytes && (listed.bytes == 2 || listed.bytes == 4);
      if (apart || (inside && !part_of_scalar)) continue;
      const std::string described = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
      return places_.fail({indexed("parameter", index, ""),
                           "the parameter has " + described + " at offset " + std::to_string(offset) +
                               ", and the compiled code's signature one of " + std::to_string(listed.bytes) + " at offset " +
                               std::to_string(listed.offset) + "; state bytes: " + std::to_string(listed.bytes)});
    }
    return {};
  }

  // bool and char have one byte, short and half two, double eight.
  Expected<void> check_size(const configs::KernelParameter& parameter, int index, uint32_t bytes) const {
    const auto wrong = [&](const std::string& field, const std::string& message) {
      return places_.fail({indexed("parameter", index, field), message});
    };
    if (parameter.has_real() && bytes != 4 && bytes != 8) return wrong(".bytes", "a real parameter has 4 or 8 bytes");
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return wrong(".bytes", "a parameter has 1, 2, 4 or 8 bytes");
    if (!parameter.has_value() || bytes == 8) return {};
    const int64_t end = int64_t{1} << 8 * bytes;
    if (parameter.value() >= end || parameter.value() < -end / 2) {
      return wrong(".value", std::to_string(parameter.value()) + " does not fit into the parameter's " + std::to_string(bytes) +
                                 (bytes == 1 ? " byte" : " bytes"));
    }
    return {};
  }

  // Writes part of a word whose other bytes belong to other parameters.
  void put_part(uint32_t at, uint64_t value, uint32_t bytes) {
    const uint32_t shift = 8 * (at % 4);
    const uint32_t mask = ((uint32_t{1} << 8 * bytes) - 1) << shift;
    uint32_t& word = facts_.constants[at / 4 * 4].value;
    word = (word & ~mask) | (static_cast<uint32_t>(value << shift) & mask);
  }

  Expected<void> add_parameter(const configs::KernelParameter& parameter, int index, uint32_t at, uint32_t bytes) {
    uint64_t value = static_cast<uint64_t>(parameter.value());
    if (parameter.has_real())
      value = bytes == 8 ? std::bit_cast<uint64_t>(double{parameter.real()}) : std::bit_cast<uint32_t>(parameter.real());
    if (bytes < 4) {
      put_part(at, value, bytes);
      return {};
    }
    int array = -1;
    if (parameter.has_array()) {
      array = find(parameter.array());
      if (array < 0)
        return places_.fail({indexed("parameter", index, ".array"), "no array is called " + escape::quoted(parameter.array())});
      value = facts_.arrays[static_cast<size_t>(array)].address + parameter.array_offset();
    }
    put(at, {static_cast<uint32_t>(value), static_cast<int16_t>(array)});
    if (bytes == 8) put(at + 4, {static_cast<uint32_t>(value >> 32), static_cast<int16_t>(array)});
    return {};
  }

  // Alignment refers to the offset in the constant bank, not to the offset from the first parameter.
  Expected<void> add_tensor_map(const configs::KernelParameter& parameter, int index, uint32_t& next) {
    const configs::TensorMap& map = parameter.tensor_map();
    const auto wrong = [&](const std::string& field, const std::string& message) {
      return places_.fail({indexed("parameter", index, field), message});
    };
    if (abi_.address_of_parameters == 0) return wrong("", "tensor maps are known on sm_90 alone");
    if (find(map.array()) < 0) return wrong(".tensor_map.array", "no array is called " + escape::quoted(map.array()));
    if (map.extent_size() == 0 || map.extent_size() > kMostDimensions || map.extent_size() != map.box_size()) {
      return wrong(".tensor_map",
                   "a tensor map needs extent and box, one to five each, as extent: 8192 extent: 4096 box: 64 box: 128");
    }
    const uint32_t element = map.element_bytes();
    if (element != 1 && element != 2 && element != 4 && element != 8)
      return wrong(".tensor_map.element_bytes", "elements of a tensor map have 1, 2, 4 or 8 bytes");
    const auto array = static_cast<int16_t>(find(map.array()));
    TensorMapFacts facts{array, element, {}, {map.box().begin(), map.box().end()}};
    uint64_t bytes = element;
    uint64_t box_bytes = element;
    for (int i = 0; i < map.extent_size(); ++i) {
      if (map.box(i) == 0 || map.box(i) > kLargestBoxSide)
        return wrong(".tensor_map.box[" + std::to_string(i) + "]", "a box has 1 to 256 elements each way");
      if (map.extent(i) == 0 || map.extent(i) > facts_.arrays[static_cast<size_t>(array)].bytes / bytes)
        return wrong(".tensor_map.extent[" + std::to_string(i) + "]", "the tensor does not fit into array " + map.array());
      box_bytes *= map.box(i);
      if (box_bytes > kLargestBox)
        return wrong(".tensor_map", "a box of more bytes than shared memory has, " + std::to_string(kLargestBox));
      facts.pitch.push_back(bytes);
      bytes *= map.extent(i);
    }
    const uint32_t behind = abi_.parameters + (parameter.has_offset() ? parameter.offset() : listed_behind(next));
    const uint32_t at = (behind + tensor_map_alignment_ - 1) / tensor_map_alignment_ * tensor_map_alignment_;
    facts_.tensor_maps.emplace(kConstantBank + at, std::move(facts));
    next = at + kTensorMapBytes - abi_.parameters;
    return {};
  }

  Expected<void> add_answers() {
    for (int i = 0; i < launch_.answer_size(); ++i) {
      const configs::Answer& answer = launch_.answer(i);
      const auto wrong = [&](const std::string& message) { return places_.fail({indexed("answer", i, ""), message}); };
      if (answer.line() == 0) return wrong("an answer needs the line of the listing that it is for");
      AnswerFacts facts;
      facts.of = answer.has_of() ? answer.of() : 1;
      if (facts.of == 0) return wrong("of must be at least 1");
      switch (answer.content_case()) {
        case configs::Answer::kTaken:
          if (answer.taken() > facts.of) return wrong("taken must be at most of");
          facts.value = answer.taken();
          break;
        case configs::Answer::kValue:
          facts.kind = AnswerFacts::Kind::kValue;
          facts.value = answer.value();
          break;
        case configs::Answer::kSectors:
          facts.kind = AnswerFacts::Kind::kSectors;
          facts.value = answer.sectors();
          break;
        case configs::Answer::kUniform:
          if (answer.uniform() == 0) return wrong("uniform must be at least 1");
          facts.kind = AnswerFacts::Kind::kUniform;
          facts.value = answer.uniform();
          break;
        case configs::Answer::kZipf:
          if (answer.zipf() == 0 || answer.zipf() > configs::kMostLengths) return wrong("zipf must be from 1 to 1000000");
          facts.kind = AnswerFacts::Kind::kUniform;
          facts.value = answer.zipf();
          facts.likely = zipf_weights(answer.zipf());
          break;
        case configs::Answer::kLengths:
          if (answer.length().empty())
            return wrong("the file of lengths is read beside a launch description; answer there, not in the scenario or by --set");
          facts.kind = AnswerFacts::Kind::kUniform;
          facts.value = answer.length_size();
          facts.numbers.assign(answer.length().begin(), answer.length().end());
          break;
        case configs::Answer::CONTENT_NOT_SET:
          return wrong("an answer needs one of taken, value, uniform, zipf, lengths and sectors");
      }
      const auto line = static_cast<int>(answer.line());
      if (facts_.answer(line, facts.kind) != nullptr) return wrong("line " + std::to_string(line) + " is answered twice");
      facts_.answers[line].push_back(facts);
    }
    return {};
  }

  const configs::KernelLaunch& launch_;
  const configs::Places& places_;
  uint32_t tensor_map_alignment_;
  std::span<const ListedParameter> listed_;
  Abi abi_;
  LaunchFacts facts_;
};

}  // namespace

std::vector<std::array<uint32_t, 3>> LaunchFacts::places_in_cluster() const {
  std::vector<std::array<uint32_t, 3>> places;
  for (uint32_t z = 0; z < cluster[2]; ++z) {
    for (uint32_t y = 0; y < cluster[1]; ++y) {
      for (uint32_t x = 0; x < cluster[0]; ++x) places.push_back({x, y, z});
    }
  }
  return places;
}

const AnswerFacts* LaunchFacts::answer(int line, AnswerFacts::Kind kind) const {
  const auto at = answers.find(line);
  if (at == answers.end()) return nullptr;
  const auto found = std::ranges::find(at->second, kind, &AnswerFacts::kind);
  return found == at->second.end() ? nullptr : &*found;
}

Expected<LaunchFacts> launch_facts(const configs::KernelLaunch& launch, const std::string& architecture,
                                   const configs::Places& places, uint32_t tensor_map_alignment,
                                   std::span<const ListedParameter> listed) {
  return Layout(launch, architecture, places, tensor_map_alignment, listed).make();
}

}  // namespace warpfold::sass
