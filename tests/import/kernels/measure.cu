// Launches the test kernels of this folder, checks and times them:
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o measure_kernels measure.cu
//   measure_kernels [--once] [NAME...]      CSV: name, grid, block, shared memory, whether the result is right, median time of 20
//                                           batches of 10 launches in us; --once: each kernel is launched once and not timed
//   measure_kernels --list                  names
//   measure_kernels --describe FOLDER       launch descriptions for `warpfold import --launch`: FOLDER/NAME.textproto
// An error that ends the CUDA context fails all later kernels of the process: `measure` runs one process for each name.
#include <cinttypes>
#include <fstream>
#include <optional>

#include "launch.h"
#include "launches_arithmetic.h"
#include "launches_blocks.h"
#include "launches_control.h"
#include "launches_products.h"
#include "launches_streams.h"

namespace kernels {
namespace {

Launches all_launches() {
  Launches all;
  add_streams(all);
  add_blocks(all);
  add_arithmetic(all);
  add_control(all);
  add_products(all);
  return all;
}

std::string extent(dim3 of) { return std::to_string(of.x) + "x" + std::to_string(of.y) + "x" + std::to_string(of.z); }

// The parameters' bytes as a launch takes them.
std::vector<std::vector<uint8_t>> packed(const Launch& launch, const Memory& memory, uint64_t texture) {
  std::vector<std::vector<uint8_t>> all;
  for (const Argument& argument : launch.arguments) {
    std::vector<uint8_t> bytes(argument.bytes);
    for (const Field& field : argument.fields) {
      uint8_t* to = bytes.data() + field.offset;
      if (field.kind == Field::Kind::kArray) {
        const void* pointer = memory.device(field.array.name);
        std::memcpy(to, &pointer, sizeof(pointer));
      } else if (field.kind == Field::Kind::kInteger) {
        std::memcpy(to, &field.integer, field.bytes);
      } else if (field.bytes == 8) {
        std::memcpy(to, &field.real, 8);
      } else {
        const auto narrow = static_cast<float>(field.real);
        std::memcpy(to, &narrow, 4);
      }
    }
    all.push_back(std::move(bytes));
  }
  if (texture != 0) std::memcpy(all.at(0).data(), &texture, sizeof(texture));
  return all;
}

double median_us(const std::function<void()>& start) {
  constexpr int kBatches = 20, kLaunches = 10;
  cudaEvent_t before = nullptr, after = nullptr;
  require(cudaEventCreate(&before), "cudaEventCreate");
  require(cudaEventCreate(&after), "cudaEventCreate");
  for (int i = 0; i < kLaunches; ++i) start();
  std::vector<float> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    require(cudaEventRecord(before), "cudaEventRecord");
    for (int i = 0; i < kLaunches; ++i) start();
    require(cudaEventRecord(after), "cudaEventRecord");
    require(cudaEventSynchronize(after), "the timed launches");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, before, after), "cudaEventElapsedTime");
    times.push_back(ms * 1000 / kLaunches);
  }
  std::sort(times.begin(), times.end());
  return (times[kBatches / 2 - 1] + times[kBatches / 2]) / 2;
}

struct Result {
  bool ok;
  double us;
};

Result run(const Launch& launch, bool once) {
  if (launch.function == nullptr) throw std::runtime_error("this GPU does not have the kernel");
  Memory memory;
  for (const Argument& argument : launch.arguments) {
    for (const Field& field : argument.fields) {
      if (field.kind == Field::Kind::kArray) memory.add(field.array);
    }
  }
  if (launch.prepare) launch.prepare();
  const uint64_t texture = launch.texture ? launch.texture() : 0;
  auto bytes = packed(launch, memory, texture);
  std::vector<void*> pointers;
  for (auto& parameter : bytes) pointers.push_back(parameter.data());

  cudaFuncAttributes attributes;
  require(cudaFuncGetAttributes(&attributes, launch.function), "cudaFuncGetAttributes");
  if (attributes.sharedSizeBytes != launch.static_shared) {
    std::fprintf(stderr, "  %s: %zu bytes of static shared memory, not %zu\n", launch.name.c_str(), attributes.sharedSizeBytes,
                 launch.static_shared);
  }
  if (launch.dynamic_shared > 0) {
    require(
        cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.dynamic_shared)),
        "cudaFuncSetAttribute");
  }
  const auto start = [&] {
    require(cudaLaunchKernel(launch.function, launch.grid, launch.block, pointers.data(), launch.dynamic_shared, nullptr),
            "cudaLaunchKernel");
  };
  start();
  require(cudaDeviceSynchronize(), "the kernel");
  const bool ok = !launch.check || launch.check(memory);
  return {ok, once ? 0 : median_us(start)};
}

// False where the kernel failed or its result is wrong.
bool print(const Launch& launch, bool once) {
  std::printf("%s,%s,%s,%zu,", launch.name.c_str(), extent(launch.grid).c_str(), extent(launch.block).c_str(),
              launch.static_shared + launch.dynamic_shared);
  bool ok = false;
  try {
    const Result result = run(launch, once);
    ok = result.ok;
    std::printf(once ? "%s,\n" : "%s,%.2f\n", ok ? "yes" : "no", result.us);
  } catch (const std::exception& error) {
    std::printf("%s,\n", error.what());
    cudaGetLastError();  // an error that does not end the context
  }
  std::fflush(stdout);
  return ok;
}

void describe_field(std::FILE* file, const Field& field, std::optional<size_t> offset) {
  std::fprintf(file, "parameter { ");
  if (offset) std::fprintf(file, "offset: %zu ", *offset);
  switch (field.kind) {
    case Field::Kind::kArray:
      std::fprintf(file, "array: \"%s\" }\n", field.array.name.c_str());
      return;
    case Field::Kind::kInteger:
      std::fprintf(file, "name: \"%s\" value: %" PRId64, field.name.c_str(), field.integer);
      break;
    case Field::Kind::kReal:
      std::fprintf(file, "name: \"%s\" real: %.9g", field.name.c_str(), field.real);
      break;
  }
  if (field.bytes != 4) std::fprintf(file, " bytes: %zu", field.bytes);
  std::fprintf(file, " }\n");
}

void describe_extent(std::FILE* file, const char* name, dim3 of) {
  std::fprintf(file, "%s { x: %u", name, of.x);
  if (of.y > 1) std::fprintf(file, " y: %u", of.y);
  if (of.z > 1) std::fprintf(file, " z: %u", of.z);
  std::fprintf(file, " }\n");
}

void describe(const Launch& launch, const std::string& folder) {
  const std::string path = folder + "/" + launch.name + ".textproto";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error(path + ": cannot be written");
  std::fprintf(file, "# Written by measure.cu, which launches the kernel so.\n");
  if (!launch.note.empty()) std::fprintf(file, "# %s\n", launch.note.c_str());
  std::fprintf(file, "function: \"%s\"\n", launch.name.c_str());
  describe_extent(file, "grid", launch.grid);
  describe_extent(file, "block", launch.block);
  if (launch.cluster > 1) std::fprintf(file, "cluster { x: %u }\n", launch.cluster);
  if (launch.registers > 0) std::fprintf(file, "registers: %u\n", launch.registers);
  const size_t shared = launch.static_shared + launch.dynamic_shared;
  if (shared > 0) std::fprintf(file, "shared_memory_bytes: %zu\n", shared);
  if (launch.tensor_memory_columns > 0) std::fprintf(file, "tensor_memory_columns: %u\n", launch.tensor_memory_columns);
  if (launch.flops > 0) std::fprintf(file, "flops: %.0f\n", launch.flops);
  for (const Argument& argument : launch.arguments) {
    for (const Field& field : argument.fields) {
      if (field.kind == Field::Kind::kArray) {
        std::fprintf(file, "array { name: \"%s\" bytes: %zu }\n", field.array.name.c_str(), field.array.bytes);
      }
    }
  }
  size_t offset = 0;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const size_t alignment = launch.alignments[i];
    offset = (offset + alignment - 1) / alignment * alignment;
    const bool of_struct = argument.fields.size() > 1;
    for (const Field& field : argument.fields) {
      describe_field(file, field, of_struct ? std::optional<size_t>(offset + field.offset) : std::nullopt);
    }
    offset += argument.bytes;
  }
  std::fclose(file);
}

int usage() {
  std::fprintf(stderr, "Usage: measure_kernels [--once] [NAME...] | --list | --describe FOLDER\n");
  return 2;
}

int main_of(const std::vector<std::string>& arguments) {
  const Launches all = all_launches();
  std::vector<std::string> names;
  bool once = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--once") {
      once = true;
    } else if (argument == "--list") {
      for (const Launch& launch : all) std::printf("%s\n", launch.name.c_str());
      return 0;
    } else if (argument == "--describe" && i + 1 < arguments.size()) {
      for (const Launch& launch : all) describe(launch, arguments[i + 1]);
      return 0;
    } else if (argument.rfind("--", 0) == 0) {
      return usage();
    } else {
      names.push_back(argument);
    }
  }
  bool failed = false;
  for (const std::string& name : names) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Launch& launch) { return launch.name == name; });
    if (!known) failed = true, std::fprintf(stderr, "%s: no such kernel\n", name.c_str());
  }
  for (const Launch& launch : all) {
    if (names.empty() || std::find(names.begin(), names.end(), launch.name) != names.end()) failed |= !print(launch, once);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace kernels

int main(int count, char** arguments) {
  try {
    return kernels::main_of({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
