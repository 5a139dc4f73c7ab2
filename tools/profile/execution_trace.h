#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::profile {

// The storages on a GPU that an operator reads and writes. A storage that it changes in place is among both.
struct StorageUse {
  std::string name;  // of the operator: "aten::mm"
  std::vector<uint64_t> reads{};
  std::vector<uint64_t> writes{};
};

// An execution trace of PyTorch (torch.profiler.ExecutionTraceObserver; also called Chakra trace): the tensors of each operator. A
// trace of torch.profiler that was recorded with it has the same numbers of record functions.
class ExecutionTrace {
 public:
  void add(uint64_t record, StorageUse use) { uses_[record] = std::move(use); }
  // Returns none if no operator of this name has the number.
  const StorageUse* find(uint64_t record, const std::string& name) const {
    const auto found = uses_.find(record);
    return found != uses_.end() && found->second.name == name ? &found->second : nullptr;
  }

 private:
  std::map<uint64_t, StorageUse> uses_;
};

// Schemas 1.0 and 1.1 (pytorch/pytorch, torch/csrc/profiler/standalone/execution_trace_observer.cpp), plain or compressed. Errors
// have file, line and column.
Expected<ExecutionTrace> read_execution_trace(const std::string& path);
Expected<ExecutionTrace> read_execution_trace(const std::string& file, std::unique_ptr<traces::accelsim::ByteSource> source);

}  // namespace warpfold::profile
