#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/workloads/kernels.h"
#include "workloads/flash_attention_3/flash_attention_3.h"

// FlashAttention-3's kernels on an H100, and places in their code.
namespace warpfold::workloads {

inline configs::FlashAttention3 attention(uint64_t batch, uint64_t heads, uint64_t queries, uint32_t head_dim) {
  configs::FlashAttention3 attention;
  configs::AttentionShape& shape = *attention.mutable_shape();
  shape.set_batch(batch);
  shape.set_heads(heads);
  shape.set_queries(queries);
  shape.set_head_dim(head_dim);
  shape.set_type(configs::FP16);
  return attention;
}

inline configs::FlashAttention3 causal(uint64_t batch, uint64_t heads, uint64_t queries, uint32_t head_dim) {
  configs::FlashAttention3 all = attention(batch, heads, queries, head_dim);
  all.mutable_shape()->set_causal(true);
  return all;
}

inline traces::Kernel make(const configs::FlashAttention3& attention) {
  return make_flash_attention_3(attention, gpu("h100_sxm")).value();
}
inline const traces::Role& role(const traces::Kernel& kernel, const std::string& name) {
  return *std::ranges::find(kernel.roles, name, &traces::Role::name);
}

// Blocks that are the whole body of an innermost loop, in text order.
inline void find_loops(const std::vector<traces::Node>& body, std::vector<const std::vector<isa::Instruction>*>& found) {
  for (const traces::Node& node : body) {
    const auto* loop = std::get_if<traces::Loop>(&node);
    if (loop == nullptr) continue;
    const auto* block = std::get_if<traces::Block>(&loop->body.front());
    if (loop->body.size() == 1 && block != nullptr) found.push_back(&block->code);
    find_loops(loop->body, found);
  }
}

inline const std::vector<isa::Instruction>& loop_body(const traces::Kernel& kernel, const std::string& name, size_t index) {
  std::vector<const std::vector<isa::Instruction>*> found;
  find_loops(role(kernel, name).body, found);
  return *found.at(index);
}

inline int starting_with(const std::vector<isa::Instruction>& code, const std::string& prefix) {
  return static_cast<int>(
      std::ranges::count_if(code, [&](const isa::Instruction& instruction) { return instruction.mnemonic.starts_with(prefix); }));
}

}  // namespace warpfold::workloads
