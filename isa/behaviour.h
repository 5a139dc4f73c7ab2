#pragma once

#include <cstdint>

namespace warpfold::isa {

// Machine behaviour of an opcode. The numbering follows Behaviour in opcode_table.proto.
enum class Behaviour : uint8_t {
  kFixedLatency,
  kVariableMath,
  kLoadGlobal,
  kStoreGlobal,
  kLoadShared,
  kStoreShared,
  kLoadMatrix,
  kLoadConstant,
  kCopyAsync,
  kCopyAsyncCommit,
  kBulkLoad,
  kBulkStore,
  kMbarrierWait,
  kMbarrierArrive,
  kWgmma,
  kWgmmaArrive,
  kWgmmaWait,
  kBarrierSync,
  kBarrierArrive,
  kDependenceWait,
  kBranch,
  kExit,
  kNoOperation,
  kShuffle,
  kSetMaxRegisters,
  kCopyAsyncWait,
  kReadSpecial,
  kBulkWait,
  kTcgen05Mma,
  kTcgen05Commit,
  kTcgen05Copy,
};

}  // namespace warpfold::isa
