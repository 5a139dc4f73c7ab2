#include "tools/profile/execution_trace.h"

#include <rapidjson/reader.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/profile/byte_stream.h"
#include "tools/profile/json_text.h"

namespace warpfold::profile {
namespace {

constexpr size_t kMostTensors = 1 << 16;  // of an operator; further ones are omitted

// An argument of an operator or a result, with the storages of its tensors.
struct Value {
  size_t argument;
  uint64_t storage;
};

// An operator as the trace states it.
struct Node {
  std::string name;
  std::string schema;  // "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
  uint64_t record = 0;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
};

// The positions of the arguments that an operator changes in place: a schema marks them by `!`.
std::vector<bool> changed_arguments(std::string_view schema) {
  std::vector<bool> changed;
  const size_t open = schema.find('(');
  if (open == std::string_view::npos) return changed;
  changed.push_back(false);
  int depth = 0;
  for (const char c : schema.substr(open)) {
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth == 0) break;
    if (c == '!') changed.back() = true;
    if (c == ',' && depth == 1) changed.push_back(false);
  }
  return changed;
}

StorageUse use_of(Node node) {
  StorageUse use{.name = std::move(node.name)};
  const std::vector<bool> changed = changed_arguments(node.schema);
  const bool unknown = node.schema.empty() && node.outputs.empty();  // may change any
  for (const Value& input : node.inputs) {
    use.reads.push_back(input.storage);
    if (unknown || (input.argument < changed.size() && changed[input.argument])) use.writes.push_back(input.storage);
  }
  for (const Value& output : node.outputs) use.writes.push_back(output.storage);
  for (std::vector<uint64_t>* storages : {&use.reads, &use.writes}) {
    std::ranges::sort(*storages);
    storages->erase(std::ranges::unique(*storages).begin(), storages->end());
  }
  return use;
}

// Handles RapidJSON's events. The text is { "schema": ..., "nodes": [ {node}, ... ] }. A node of schema 1.0 has "rf_id",
// "op_schema", "inputs": [...] and "outputs": [...]; one of 1.1 has "inputs": {"values": [...]}, likewise outputs, and
// "attrs": [ {"name": "rf_id", "value": ...}, ... ]. A tensor is [tensor, storage, offset, elements, bytes of one, "device"].
class NodeHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, NodeHandler> {
 public:
  NodeHandler(ByteStream& bytes, ExecutionTrace& trace) : bytes_(bytes), trace_(trace) {}

  const std::string& problem() const { return problem_; }
  bool has_nodes() const { return has_nodes_; }

  bool Default() {  // null, true, false
    array_ = {};
    return value();
  }
  bool Int(int value) { return number(value > 0 ? static_cast<uint64_t>(value) : 0); }
  bool Uint(unsigned value) { return number(value); }
  bool Int64(int64_t value) { return number(value > 0 ? static_cast<uint64_t>(value) : 0); }
  bool Uint64(uint64_t value) { return number(value); }
  bool Double(double) { return Default(); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view said(text, length);
    if (depth_ == kNode && member_ == "name") node_.name = said;
    if (depth_ == kNode && member_ == "op_schema") node_.schema = said;
    if (in_attribute() && attribute_key_ == "name") attribute_.first = said;
    if (in_attribute() && attribute_key_ == "value" && attribute_.first == "op_schema") node_.schema = said;
    array_.on_gpu = array_.numbers == kTensorNumbers && said.starts_with("cuda");
    if (!array_.on_gpu) array_ = {};
    return value();
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    bytes_.token_ends();
    const std::string_view key(text, length);
    if (depth_ == 1) in_nodes_ = key == "nodes";
    if (in_nodes_ && depth_ == kNode) member_ = key;
    if (in_nodes_ && depth_ == kNode + 1) values_ = key == "values";
    if (in_attribute()) attribute_key_ = key;
    return true;
  }
  bool StartObject() {
    if (!open()) return false;
    if (in_nodes_ && depth_ == kNode) node_ = {};
    if (in_nodes_ && depth_ == kNode + 1) list_ = kNode + 2;
    if (in_attribute()) attribute_ = {};
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    bytes_.token_ends();
    if (in_nodes_ && depth_ == kNode && node_.record != 0 && !(node_.inputs.empty() && node_.outputs.empty()))
      trace_.add(node_.record, use_of(std::move(node_)));
    if (in_attribute() && attribute_.first == "rf_id") node_.record = attribute_.second;
    --depth_;
    array_ = {};
    return true;
  }
  bool StartArray() {
    if (in_values() && depth_ == list_) ++argument_;
    if (!open()) return false;
    if (depth_ == 2 && in_nodes_) has_nodes_ = true;
    if (in_nodes_ && depth_ == kNode + 1) {  // of schema 1.0
      list_ = kNode + 1;
      values_ = true;
    }
    if (depth_ == list_) argument_ = 0;
    array_ = {};
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    bytes_.token_ends();
    std::vector<Value>* const values = member_ == "inputs" ? &node_.inputs : member_ == "outputs" ? &node_.outputs : nullptr;
    if (in_values() && depth_ > list_ && array_.on_gpu && values != nullptr && values->size() < kMostTensors)
      values->push_back({argument_ - 1, array_.storage});
    array_ = {};
    --depth_;
    return true;
  }

 private:
  static constexpr size_t kNode = 3;           // depth of a node's members
  static constexpr size_t kTensorNumbers = 5;  // of a tensor, before its device

  // The innermost array since its last bracket: whether it is a tensor.
  struct Array {
    size_t numbers = 0;
    uint64_t storage = 0;
    bool on_gpu = false;
  };

  bool in_values() const { return in_nodes_ && values_ && depth_ >= list_ && (member_ == "inputs" || member_ == "outputs"); }
  bool in_attribute() const { return in_nodes_ && depth_ == kNode + 2 && member_ == "attrs"; }
  bool open() {
    bytes_.token_ends();
    if (++depth_ <= kDeepestJson) return true;
    problem_ = "nested deeper than " + std::to_string(kDeepestJson) + " brackets";
    return false;
  }
  bool value() {
    bytes_.token_ends();
    if (in_values() && depth_ == list_) ++argument_;
    return true;
  }
  bool number(uint64_t number) {
    if (depth_ == kNode && in_nodes_ && member_ == "rf_id") node_.record = number;
    if (in_attribute() && attribute_key_ == "value") attribute_.second = number;
    if (++array_.numbers == 2) array_.storage = number;
    array_.on_gpu = false;
    return value();
  }

  ByteStream& bytes_;
  ExecutionTrace& trace_;
  std::string problem_{};
  size_t depth_ = 0;
  bool in_nodes_ = false;
  bool has_nodes_ = false;
  std::string member_{};  // key of the node's member
  bool values_ = false;   // inside a list of arguments or results
  size_t list_ = SIZE_MAX;
  size_t argument_ = 0;  // number of arguments of the list so far
  Array array_{};
  Node node_{};
  std::string attribute_key_{};
  std::pair<std::string, uint64_t> attribute_{};
};

}  // namespace

Expected<ExecutionTrace> read_execution_trace(const std::string& file, std::unique_ptr<traces::accelsim::ByteSource> source) {
  ByteStream bytes(std::move(source));
  ExecutionTrace trace;
  NodeHandler handler(bytes, trace);
  if (auto parsed = parse_json(file, bytes, handler); !parsed) return std::unexpected(parsed.error());
  if (!handler.has_nodes())
    return fail_at(file, 0, 0, "no list \"nodes\": expected an execution trace of torch.profiler.ExecutionTraceObserver");
  return trace;
}

Expected<ExecutionTrace> read_execution_trace(const std::string& path) {
  auto source = traces::accelsim::open_source(path);
  if (!source) return std::unexpected(source.error());
  return read_execution_trace(path, std::move(*source));
}

}  // namespace warpfold::profile
