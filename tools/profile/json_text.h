#pragma once

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "configs/escape/quoted.h"
#include "tools/profile/byte_stream.h"

namespace warpfold::profile {

constexpr size_t kDeepestJson = 64;  // brackets within brackets

// Parses JSON of any size with a handler of RapidJSON's events. `handler.problem()` is empty, or says why the handler ended the
// parsing. An error has the file, line and column.
template <typename Handler>
Expected<void> parse_json(const std::string& file, ByteStream& bytes, Handler& handler) {
  // Iterative parsing: deep nesting in hostile files uses no stack. NaN is accepted because Kineto writes it for undefined rates.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNanAndInfFlag;
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(bytes, handler);
  const auto fails = [&](const std::string& why) { return fail_at(file, bytes.line(), bytes.column(), why); };
  if (bytes.error()) return std::unexpected(*bytes.error());
  if (!handler.problem().empty()) return fails(handler.problem());
  if (!parsed && bytes.endless())
    return fails("a string or a blank longer than " + std::to_string(ByteStream::kLongest >> 20) + " MiB");
  if (!parsed && parsed.Code() == rapidjson::kParseErrorDocumentEmpty) return fails("the trace is empty");
  if (!parsed && bytes.at_end()) return fails("truncated: the JSON ends early; export the trace again");
  if (!parsed)
    return fails("damaged JSON: " + escape::remark(rapidjson::GetParseError_En(parsed.Code())) + "; export the trace again");
  if (!bytes.at_end()) return fails("damaged JSON: a NUL behind the trace");
  return {};
}

}  // namespace warpfold::profile
