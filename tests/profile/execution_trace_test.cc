// Execution traces of PyTorch: the storages that operators use, and one message for each damaged file.

#include "tools/profile/execution_trace.h"

#include <gmock/gmock.h>

#include <ostream>

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Expected<ExecutionTrace> read_nodes(const std::string& text) {
  auto source = traces::accelsim::source_of("et.json", text);
  if (!source) return std::unexpected(source.error());
  return read_execution_trace("et.json", std::move(*source));
}

std::string nodes(const std::string& text) { return "{\"schema\": \"1.0.1\", \"pid\": 1, \"nodes\": [\n" + text + "\n]}\n"; }
std::string tensor(int storage, const std::string& device = "cuda:0") {
  return "[" + std::to_string(storage + 100) + "," + std::to_string(storage) + ",0,64,4,\"" + device + "\"]";
}
std::string old_node(int record, const std::string& name, const std::string& inputs, const std::string& outputs,
                     const std::string& schema) {
  return "{\"name\": \"" + name + "\", \"id\": 5, \"rf_id\": " + std::to_string(record) + ", \"op_schema\": \"" + schema +
         "\", \"inputs\": " + inputs + ", \"input_shapes\": [[2, 3, 4, 5, 6, 7]], \"outputs\": " + outputs + "}";
}
std::string new_node(int record, const std::string& name, const std::string& inputs, const std::string& outputs,
                     const std::string& schema) {
  return "{\"id\": 5, \"name\": \"" + name + "\", \"ctrl_deps\": 2, \"inputs\": {\"values\": " + inputs +
         ", \"shapes\": [[1, 2, 3, 4, 5]]}, \"outputs\": {\"values\": " + outputs +
         ", \"types\": [\"Tensor(float)\"]}, \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": " +
         std::to_string(record) + "}, {\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"" + schema + "\"}]}";
}

TEST(ExecutionTrace, HasTheStoragesOfOperatorsInBothSchemas) {
  const std::string inputs = "[" + tensor(7) + ", 1, " + tensor(8) + "]", outputs = "[" + tensor(9) + "]";
  const std::string schema = "aten::add.Tensor(Tensor self, Scalar a, Tensor b) -> Tensor";
  for (const std::string& node :
       {old_node(3, "aten::add", inputs, outputs, schema), new_node(3, "aten::add", inputs, outputs, schema)}) {
    const auto trace = read_nodes(nodes(node));
    ASSERT_TRUE(trace) << trace.error().text();
    const StorageUse* const use = trace->find(3, "aten::add");
    ASSERT_NE(use, nullptr) << node;
    EXPECT_THAT(use->reads, ElementsAre(7, 8));
    EXPECT_THAT(use->writes, ElementsAre(9));
    EXPECT_EQ(trace->find(3, "aten::mul"), nullptr);
    EXPECT_EQ(trace->find(4, "aten::add"), nullptr);
  }
}

TEST(ExecutionTrace, ArgumentsThatASchemaMarksAreWritten) {
  const std::string inputs = "[[" + tensor(1) + "," + tensor(2) + "],[" + tensor(3) + "," + tensor(4) + "],0.5]";
  const auto trace = read_nodes(
      nodes(new_node(3, "aten::_foreach_add_", inputs, "[]",
                     "aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()") +
            "," + old_node(4, "aten::mul_", "[2, " + tensor(6) + "]", "[" + tensor(6) + "]", "aten::mul_(int n, Tensor(a!) self)") +
            "," + old_node(5, "custom::f", "[" + tensor(5) + "]", "[]", "")));
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->find(3, "aten::_foreach_add_")->reads, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(trace->find(3, "aten::_foreach_add_")->writes, ElementsAre(1, 2));
  EXPECT_THAT(trace->find(4, "aten::mul_")->writes, ElementsAre(6));
  EXPECT_THAT(trace->find(5, "custom::f")->writes, ElementsAre(5)) << "without a schema or a result it may write any";
}

TEST(ExecutionTrace, OnlyStoragesOfGpusCount) {
  const auto trace = read_nodes(nodes(old_node(3, "aten::to", "[" + tensor(7, "cpu") + ", [1,2,3,4,5], \"cuda:0\"]",
                                               "[" + tensor(8) + "]", "aten::to(Tensor self, int[] a, Device d) -> Tensor")));
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->find(3, "aten::to")->reads, IsEmpty());
  EXPECT_THAT(trace->find(3, "aten::to")->writes, ElementsAre(8));
}

struct Damaged {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const Damaged& each, std::ostream* out) { *out << each.name; }
class DamagedExecutionTrace : public testing::TestWithParam<Damaged> {};

TEST_P(DamagedExecutionTrace, HasOneMessage) {
  const auto trace = read_nodes(GetParam().text);
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().text(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedExecutionTrace,
    testing::Values(Damaged{"Empty", "", "et.json:1:1: the trace is empty"},
                    Damaged{"Cut", nodes(old_node(3, "f", "[" + tensor(7) + "]", "[]", "")).substr(0, 90), "truncated"},
                    Damaged{"Word", nodes("hello"), "et.json:2:1: damaged JSON: Invalid value"},
                    Damaged{"Deep", nodes(std::string(100, '[')), "nested deeper than 64 brackets"},
                    Damaged{"AProfile", "{\"traceEvents\": []}",
                            "et.json: no list \"nodes\": expected an execution trace of torch.profiler.ExecutionTraceObserver"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace warpfold::profile
