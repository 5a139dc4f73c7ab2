#include <algorithm>
#include <map>
#include <set>

#include "traces/import/flow.h"

namespace warpfold::sass {
namespace {

// assumed: ten times the largest listings at hand. A recursion is copied level by level, so its limit is lower.
constexpr size_t kLargestProgram = 200'000;
constexpr size_t kLargestRecursion = 20'000;

bool returns(const std::vector<Op>& ops, const std::set<int>& reached) {
  return std::ranges::any_of(reached, [&ops](int at) { return ops[static_cast<size_t>(at)].base == "RET"; });
}

}  // namespace

std::set<int> reached_from(const std::vector<Op>& ops, int first) {
  std::set<int> reached;
  std::vector<int> open{first};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at < 0 || static_cast<size_t>(at) >= ops.size() || !reached.insert(at).second) continue;
    const Op& op = ops[static_cast<size_t>(at)];
    if (op.base == "RET") continue;
    if (op.base == "CALL" || may_fall_through(op)) open.push_back(at + 1);
    if (op.base != "CALL" && may_jump(op)) open.push_back(op.target);
    for (const Op::IndirectTarget& target : op.indirect) open.push_back(target.position);
  }
  return reached;
}

namespace {

// True if the code calls itself, directly or through other functions.
bool calls_itself(const std::vector<Op>& ops, int first) {
  std::set<int> called;
  std::vector<int> open{first};
  while (!open.empty()) {
    const std::set<int> body = reached_from(ops, open.back());
    open.pop_back();
    for (const int at : body) {
      const Op& op = ops[static_cast<size_t>(at)];
      if (op.base != "CALL" || op.target < 0) continue;
      if (op.target == first) return true;
      if (called.insert(op.target).second) open.push_back(op.target);
    }
  }
  return false;
}

}  // namespace

Expected<void> inline_calls(const std::string& file, std::vector<Op>& ops) {
  const std::vector<Op> listed = ops;  // with the original calls, for every copy
  std::map<int, bool> recursive;       // by the first instruction of a called function
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].base != "CALL" || ops[i].target < 0 || static_cast<size_t>(ops[i].target) >= listed.size()) continue;
    const std::set<int> body = reached_from(listed, ops[i].target);
    if (!returns(listed, body)) continue;  // a jump: compilers leave a loop by CALL if the target never returns
    const auto [called, fresh] = recursive.try_emplace(ops[i].target, false);
    if (fresh) called->second = calls_itself(listed, ops[i].target);
    if (called->second && ops.size() + body.size() > listed.size() + kLargestRecursion) {
      ops[i].target = -1;
      ops[i].too_deep = true;
      continue;
    }
    if (ops.size() + body.size() > kLargestProgram) {
      return fail_at(file, ops[i].line, 1,
                     "more than " + std::to_string(kLargestProgram) + " instructions with each called function in its place");
    }
    const int back = static_cast<int>(i) + 1;
    std::map<int, int> moved;
    for (const int at : body) moved.emplace(at, static_cast<int>(ops.size() + moved.size()));
    for (const int at : body) {
      Op copy = listed[static_cast<size_t>(at)];
      copy.index = static_cast<int>(ops.size());
      if (copy.base == "RET") {
        copy.target = back;
      } else if (copy.base != "CALL" && copy.target >= 0) {
        const auto place = moved.find(copy.target);
        if (place != moved.end()) copy.target = place->second;
      }
      for (Op::IndirectTarget& target : copy.indirect) {
        const auto place = moved.find(target.position);
        if (place != moved.end()) target.position = place->second;
      }
      ops.push_back(std::move(copy));
    }
    ops[i].target = moved.at(ops[i].target);
  }
  return {};
}

}  // namespace warpfold::sass
