// A launch of a test kernel: grid, block, parameters, arrays and a check. The same table is launched (measure.cu) and described for
// `warpfold import --launch`.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernels {

inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Random numbers that depend on seed and index alone, so that a check can ask for any of them again.
inline uint32_t random_bits(uint64_t seed, size_t i) {
  uint64_t z = (seed << 40) + i + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return static_cast<uint32_t>((z ^ z >> 31) >> 32);
}
inline auto bits(uint64_t seed) {
  return [=](size_t i) { return random_bits(seed, i); };
}
inline auto below(uint64_t seed, uint32_t limit) {
  return [=](size_t i) { return static_cast<int>(random_bits(seed, i) % limit); };
}
inline auto uniform(uint64_t seed, float low = -1, float high = 1) {
  return [=](size_t i) { return low + (high - low) * (static_cast<float>(random_bits(seed, i) >> 8) * 0x1p-24f); };
}

struct Array {
  std::string name;
  size_t bytes = 0;
  size_t element_bytes = 0;
  std::function<void(void*)> fill;
};

// One number or pointer of a parameter.
struct Field {
  enum class Kind { kArray, kInteger, kReal };
  std::string name;
  Kind kind = Kind::kInteger;
  size_t offset = 0;  // in the parameter
  size_t bytes = 0;
  int64_t integer = 0;
  double real = 0;
  Array array;
};

// A scalar or a pointer has one field, a struct several.
struct Argument {
  size_t bytes = 0;
  std::vector<Field> fields;
};

// An array of `count` elements, of which `element(i)` is the i-th before the launch.
template <class Element>
Argument array(const char* name, size_t count, Element element) {
  using T = decltype(element(size_t{}));
  Field field{name, Field::Kind::kArray, 0, sizeof(void*), 0, 0, {name, count * sizeof(T), sizeof(T), {}}};
  field.array.fill = [=](void* to) {
    for (size_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = element(i);
  };
  return {sizeof(void*), {field}};
}
template <class T>
Argument zeros(const char* name, size_t count) {
  return array(name, count, [](size_t) { return T{}; });
}

template <class T>
Argument value(const char* name, T number) {
  Field field{name, std::is_integral_v<T> ? Field::Kind::kInteger : Field::Kind::kReal, 0, sizeof(T), 0, 0, {}};
  if constexpr (std::is_integral_v<T>) {
    field.integer = static_cast<int64_t>(number);
  } else {
    field.real = number;
  }
  return {sizeof(T), {field}};
}

// A parameter of any other type of the same size, by its bits.
template <class T>
Argument word(const char* name, T of) {
  static_assert(sizeof(T) == 4);
  uint32_t number = 0;
  std::memcpy(&number, &of, 4);
  return value(name, number);
}

// A struct of `bytes`: its members with their offsets.
inline Argument structure(size_t bytes, std::vector<std::pair<size_t, Argument>> members) {
  Argument all{bytes, {}};
  for (auto& [offset, member] : members) {
    member.fields.at(0).offset = offset;
    all.fields.push_back(member.fields[0]);
  }
  return all;
}

// Arrays of a launch on host and device. The host's copies stay as they were before the launch.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (auto& [name, block] : blocks_) cudaFree(block.device);
  }

  void add(const Array& array) {
    Block& block = blocks_[array.name];
    block.host.resize(array.bytes);
    array.fill(block.host.data());
    require(cudaMalloc(&block.device, array.bytes), "cudaMalloc");
    require(cudaMemcpy(block.device, block.host.data(), array.bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void* device(const std::string& name) const { return blocks_.at(name).device; }

  template <class T>
  const T* before(const std::string& name) const {
    return reinterpret_cast<const T*>(blocks_.at(name).host.data());
  }
  template <class T>
  std::vector<T> after(const std::string& name) const {
    const Block& block = blocks_.at(name);
    std::vector<T> all(block.host.size() / sizeof(T));
    require(cudaMemcpy(all.data(), block.device, block.host.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return all;
  }

 private:
  struct Block {
    void* device = nullptr;
    std::vector<uint8_t> host;
  };
  std::map<std::string, Block> blocks_;
};

struct Launch {
  std::string name;
  const void* function = nullptr;  // nullptr if the program's GPU cannot have the kernel
  dim3 grid, block;
  std::vector<Argument> arguments;
  std::vector<size_t> alignments;  // of the parameters
  unsigned cluster = 1;            // CTAs, in x
  size_t static_shared = 0, dynamic_shared = 0;
  unsigned registers = 0;              // stated where a listing does not say them
  unsigned tensor_memory_columns = 0;  // that a CTA allocates
  double flops = 0;
  std::string note;                   // question about the data that an importer may ask
  std::function<void()> prepare;      // symbols
  std::function<uint64_t()> texture;  // of the first parameter
  std::function<bool(const Memory&)> check;

  Launch& with_cluster(unsigned ctas) { return cluster = ctas, *this; }
  Launch& with_shared(size_t of_code, size_t of_launch = 0) { return static_shared = of_code, dynamic_shared = of_launch, *this; }
  Launch& with_registers(unsigned count) { return registers = count, *this; }
  Launch& with_tensor_memory(unsigned columns) { return tensor_memory_columns = columns, *this; }
  Launch& with_flops(double count) { return flops = count, *this; }
  Launch& with_note(const char* text) { return note = text, *this; }
  Launch& prepared(std::function<void()> by) { return prepare = std::move(by), *this; }
  Launch& with_texture(std::function<uint64_t()> made) { return texture = std::move(made), *this; }
  Launch& checked(std::function<bool(const Memory&)> by) { return check = std::move(by), *this; }
};

// Holds the arguments against the kernel's parameters: their number, sizes, and pointers.
template <class... Parameters>
Launch launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::vector<Argument> arguments,
              bool available = true) {
  const std::vector<size_t> sizes = {sizeof(Parameters)...};
  const std::vector<bool> pointers = {std::is_pointer_v<Parameters>...};
  if (arguments.size() != sizes.size()) throw std::logic_error(std::string(name) + ": wrong number of arguments");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_array = arguments[i].fields.size() == 1 && arguments[i].fields[0].kind == Field::Kind::kArray;
    if (arguments[i].bytes != sizes[i] || is_array != pointers[i]) {
      throw std::logic_error(std::string(name) + ": argument " + std::to_string(i) + " does not fit its parameter");
    }
  }
  Launch made;
  made.name = name;
  made.function = available ? reinterpret_cast<const void*>(kernel) : nullptr;
  made.grid = grid;
  made.block = block;
  made.arguments = std::move(arguments);
  made.alignments = {alignof(Parameters)...};
  return made;
}

inline bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

// Some 1,000 indices below `count`, its ends among them. `allowed` mismatches are those of rounding that decides a branch.
template <class Matches>
bool sampled(size_t count, Matches matches, int allowed = 0) {
  const size_t step = count / 997 + 1;
  int wrong = 0;
  for (size_t at = 0; at < count + step; at += step) {
    const size_t i = at < count ? at : count - 1;
    if (matches(i)) continue;
    if (++wrong > allowed) return std::fprintf(stderr, "  element %zu is wrong\n", i), false;
  }
  return true;
}

using Launches = std::vector<Launch>;

}  // namespace kernels
