#include "tools/warpfold/serve/answer.h"

#include <google/protobuf/util/json_util.h>

#include "configs/escape/json.h"
#include "configs/report.pb.h"
#include "configs/result.pb.h"
#include "tools/report/saved_result.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/render/json.h"

namespace warpfold::serve {

namespace {

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string message_of(const Ended& ended) {
  if (!ended.stopped.empty()) return ended.stopped;
  if (ended.exit_code == cli::kSuccess) return {};
  const std::string said = without_line_end(ended.err);
  return said.empty() ? "the command ended with exit code " + std::to_string(ended.exit_code) : said;
}

std::string findings_json(const std::string& result_json) {
  configs::Result result;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(result_json, &result, options).ok() || result.kernels().empty()) return "[]";
  std::string list;
  const configs::Report report = report::report_of(result);
  for (const configs::Statement& each : report.run(0).finding()) list.append(list.empty() ? "" : ", ").append(cli::to_json(each));
  return "[" + list + "]";
}

}  // namespace

std::string answer_json(const Question& question, const Ended& ended, std::chrono::duration<double> time) {
  const bool good = ended.exit_code == cli::kSuccess && ended.stopped.empty();
  std::string text = "{\"command\": " + escape::json(question.command()) + ", \"exit_code\": " + std::to_string(ended.exit_code) +
                     ", \"message\": " + escape::json(message_of(ended)) +
                     ", \"stopped\": " + (ended.stopped.empty() ? "false" : "true") +
                     ", \"seconds\": " + cli::json_number(time.count());
  if (good && (question.ask == "simulate" || question.ask == "model")) text += ", \"finding\": " + findings_json(ended.out);
  if (good) text += ", \"result\": " + (question.ask == "study" ? escape::json(ended.out) : ended.out);
  return text + "}\n";
}

std::string refusal_json(const std::string& why) { return "{\"message\": " + escape::json(why) + "}\n"; }

}  // namespace warpfold::serve
