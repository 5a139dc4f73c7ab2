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

std::string origin_text(const Question& question, const std::vector<Op>& ops) {
  if (question.origin < 0) return "hangs on a register that nothing has written";
  const Op& origin = ops[static_cast<size_t>(question.origin)];
  if (origin.index == question.op) return "a texture or surface";
  const std::string constant = unknown_constant(origin);
  return "hangs on " + escape::unquoted(origin.instruction->mnemonic) + " in line " + std::to_string(origin.line) +
         (constant.empty() ? "" : ", " + constant);
}

bool loads(const Op& op) { return op.behaviour == isa::Behaviour::kLoadGlobal || op.behaviour == isa::Behaviour::kLoadShared; }

}  // namespace

std::string unknown_constant(const Op& op) {
  const auto source = std::ranges::find(op.sources, Source::Kind::kConstant, &Source::kind);
  if (source == op.sources.end()) return "";
  return escape::unquoted(source->text) +
         (source->bank == 0 ? ", a parameter that the launch description does not give"
                            : ", a constant that the listing does not have; nvdisasm -hex FILE, without -c, prints constants");
}

std::vector<std::string> question_lines(std::vector<Question> questions, const std::vector<Op>& ops) {
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
                      origin_text(question, ops) + "; decides which way of a switch is taken");
      continue;
    }
    const bool taken = question.kind == Question::Kind::kTaken;
    lines.push_back("answer { line: " + std::to_string(op.line) + (taken ? " taken: N of: M" : " sectors: N") + " }  # " +
                    escape::unquoted(op.instruction->mnemonic) + ", " + origin_text(question, ops) + "; " +
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
