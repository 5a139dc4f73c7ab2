#include "traces/import/questions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "configs/escape/quoted.h"

namespace warpfold::sass {
namespace {

std::string counted(int number, const std::string& what) { return std::to_string(number) + " " + what + (number == 1 ? "" : "s"); }

// Returns text such as "skips 12 instructions in lines 7 to 30".
std::string decided(const Op& op, const std::vector<Op>& ops) {
  if (op.behaviour == isa::Behaviour::kExit) return "decides whether the threads end here";
  if (op.behaviour != isa::Behaviour::kBranch || op.target < 0) return "decides whether it is executed";
  const bool back = op.target <= op.index;
  const int first = back ? op.target : op.index + 1;
  const int last = back ? op.index : op.target - 1;
  if (first > last) return "decides nothing";
  return (back ? "repeats " : "skips ") + counted(last - first + 1, "instruction") + " in lines " +
         std::to_string(ops[static_cast<size_t>(first)].line) + " to " + std::to_string(ops[static_cast<size_t>(last)].line);
}

std::string origin_text(const Question& question, const std::vector<Op>& ops, const LaunchFacts& launch) {
  if (question.origin < 0) return "hangs on a register that nothing has written";
  const Op& origin = ops[static_cast<size_t>(question.origin)];
  if (origin.index == question.op) return "a texture or surface";
  const std::string constant = unknown_constant(origin, launch);
  return "hangs on " + escape::unquoted(origin.instruction->mnemonic) + " in line " + std::to_string(origin.line) +
         (constant.empty() ? "" : ", " + constant);
}

bool loads(const Op& op) { return op.behaviour == isa::Behaviour::kLoadGlobal || op.behaviour == isa::Behaviour::kLoadShared; }

// Names the parameter at `offset` behind the first one, and the line of a launch description that gives it. A struct is
// given word by word.
std::string missing_parameter(uint32_t offset, const std::vector<ListedParameter>& signature) {
  constexpr uint32_t kPointerBytes = 8;
  std::string name = "a parameter";
  bool pointer = signature.empty();
  for (size_t i = 0; i < signature.size(); ++i) {
    const ListedParameter& listed = signature[i];
    if (offset < listed.offset || offset >= listed.offset + listed.bytes) continue;
    name = "parameter " + std::to_string(i + 1) + " of " + std::to_string(signature.size());
    if (listed.bytes <= kPointerBytes) offset = listed.offset;
    pointer = listed.bytes >= kPointerBytes;
  }
  const std::string at = std::to_string(offset);
  return name + " at offset " + at + " that the launch description does not give: parameter { offset: " + at + " value: N }" +
         (pointer ? " (a pointer: array: \"NAME\")" : "");
}

}  // namespace

std::string unknown_constant(const Op& op, const LaunchFacts& launch) {
  const auto source = std::ranges::find(op.sources, Source::Kind::kConstant, &Source::kind);
  if (source == op.sources.end()) return "";
  const std::string text = escape::unquoted(source->text);
  if (source->bank != 0)
    return text + ", a constant that the listing does not have; nvdisasm -hex FILE, without -c, prints constants";
  if (source->index != isa::kZeroRegister || source->uniform != isa::kZeroRegister)
    return text + ", a parameter that a register selects and the launch description does not give";
  if (source->immediate < launch.parameters_offset) return text + ", which the driver sets";
  return text + ", " + missing_parameter(source->immediate - launch.parameters_offset, launch.signature);
}

std::vector<std::string> question_lines(std::vector<Question> questions, const std::vector<Op>& ops, const LaunchFacts& launch) {
  const auto key = [&ops](const Question& question) {
    return std::tuple(ops[static_cast<size_t>(question.op)].line, question.kind);
  };
  std::ranges::stable_sort(questions, {}, key);
  std::map<int, std::set<int>> hangs_on;  // dependent lines by the line of a load
  std::map<int, const Op*> loaded;
  for (const Question& question : questions) {
    if (question.origin < 0 || question.origin == question.op) continue;
    const Op& origin = ops[static_cast<size_t>(question.origin)];
    if (!loads(origin)) continue;
    hangs_on[origin.line].insert(ops[static_cast<size_t>(question.op)].line);
    loaded[origin.line] = &origin;
  }
  const auto repeated = std::ranges::unique(questions, {}, key);
  questions.erase(repeated.begin(), repeated.end());
  std::vector<std::string> lines;
  for (const Question& question : questions) {
    const Op& op = ops[static_cast<size_t>(question.op)];
    if (question.kind == Question::Kind::kTarget) {
      lines.push_back("# line " + std::to_string(op.line) + ", " + escape::unquoted(op.instruction->mnemonic) + ", " +
                      origin_text(question, ops, launch) + "; decides which way of a switch is taken");
      continue;
    }
    const bool taken = question.kind == Question::Kind::kTaken;
    lines.push_back("answer { line: " + std::to_string(op.line) + (taken ? " taken: N of: M" : " sectors: N") + " }  # " +
                    escape::unquoted(op.instruction->mnemonic) + ", " + origin_text(question, ops, launch) + "; " +
                    (taken ? decided(op, ops) : "sectors of 32 bytes that a warp touches"));
  }
  for (const auto& [line, load] : loaded) {
    std::string all;
    for (const int dependent : hangs_on[line]) all += (all.empty() ? "" : ", ") + std::to_string(dependent);
    lines.push_back("# or answer { line: " + std::to_string(line) + " value: N }, or { line: " + std::to_string(line) +
                    " uniform: N } for numbers below N at random  # " + escape::unquoted(load->instruction->mnemonic) + ", for " +
                    (hangs_on[line].size() == 1 ? "line " : "lines ") + all);
  }
  return lines;
}

}  // namespace warpfold::sass
