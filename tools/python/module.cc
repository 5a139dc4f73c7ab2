// The native part of Python's package `warpfold`: commands that run in this process, and the schemas of their inputs and outputs.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "configs/escape/terminal.h"
#include "configs/layer.pb.h"
#include "configs/profile.pb.h"
#include "configs/report.pb.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "configs/search_path.h"
#include "configs/validation.pb.h"
#include "sim/engine/interrupt.h"
#include "tools/warpfold/commands/dispatch.h"
#include "tools/warpfold/commands/failure_text.h"
#include "tools/warpfold/render/output.h"
#include "tools/warpfold/run/progress.h"

namespace py = pybind11;

namespace warpfold {
namespace {

namespace pb = google::protobuf;

// Exceptions of the package by exit code. Each has exit_code, file, line, column (0: unknown) and message.
py::object& exception_of(int exit_code) {
  static std::map<int, py::object> known;
  return known[exit_code];
}

[[noreturn]] void raise(const cli::Failure& failure) {
  const bool known =
      failure.exit_code == cli::kUserError || failure.exit_code == cli::kDeadlock || failure.exit_code == cli::kCannotWrite;
  const int code = known ? failure.exit_code : cli::kInternalError;
  // A traceback shows the text on a terminal, and Python's strings are Unicode, so it must be escaped.
  const py::object exception = exception_of(code)(cli::text_of(failure));
  exception.attr("exit_code") = failure.exit_code;
  const std::string& file = failure.diagnostic.file;
  exception.attr("file") =
      py::reinterpret_steal<py::str>(PyUnicode_DecodeFSDefaultAndSize(file.data(), static_cast<Py_ssize_t>(file.size())));
  exception.attr("line") = failure.diagnostic.line;
  exception.attr("column") = failure.diagnostic.column;
  exception.attr("message") = escape::terminal(failure.diagnostic.message);
  PyErr_SetObject(exception.get_type().ptr(), exception.ptr());
  throw py::error_already_set();
}

// Reports the command's progress to `watcher`, unless it is None, if the progress has changed. Returns false if `watcher` raises;
// the exception is left as Python's error.
bool tell(const py::object& watcher, std::optional<cli::Progress>& told) {
  if (watcher.is_none()) return true;
  auto now = cli::current_progress();
  if (!now || now == told) return true;
  told = std::move(now);
  try {
    watcher(told->what, told->done, told->steps);
    return true;
  } catch (py::error_already_set& raised) {
    raised.restore();
    return false;
  }
}

// Runs a command without holding the interpreter's lock. Ctrl-C, or an exception from `watcher`, stops the simulation and is
// raised.
std::string ask(const std::vector<std::string>& words, const py::object& watcher) {
  auto asked = [&] {
    const py::gil_scoped_release release;
    return std::async(std::launch::async, [&words] { return cli::answer(words); });
  }();
  constexpr std::chrono::milliseconds kBetweenLooks(50);
  bool interrupted = false;
  std::optional<cli::Progress> told;
  while (true) {
    std::future_status status;
    {
      const py::gil_scoped_release release;
      status = asked.wait_for(kBetweenLooks);
    }
    if (status == std::future_status::ready) break;
    if (!interrupted && (PyErr_CheckSignals() != 0 || !tell(watcher, told))) {
      interrupted = true;
      sim::stop_wanted() = true;
    }
  }
  try {
    const auto answer = asked.get();
    if (interrupted) sim::stop_wanted() = false;
    if (interrupted) throw py::error_already_set();
    if (!answer) raise(answer.error());
    return *answer;
  } catch (const sim::Interrupted&) {
    if (!interrupted) throw;  // Ctrl-C of another thread
    sim::stop_wanted() = false;
    throw py::error_already_set();
  }
}

// Adds a message of results or scenarios to the schema, by name. A message is the list of its fields in order. A field has a type
// ("int", "float", "str", "bool", a message, or an enum's values), whether it is a list, and whether it may be absent.
void add_schema(const pb::Descriptor& message, py::dict& schema) {
  if (schema.contains(message.name().c_str())) return;
  py::list fields;
  schema[message.name().c_str()] = fields;
  for (int f = 0; f < message.field_count(); ++f) {
    const pb::FieldDescriptor& field = *message.field(f);
    py::dict of;
    of["name"] = field.name();
    of["list"] = field.is_repeated();
    of["optional"] = field.has_presence();
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        of["type"] = field.message_type()->name();
        add_schema(*field.message_type(), schema);
        break;
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        py::list values;
        for (int v = 0; v < field.enum_type()->value_count(); ++v) values.append(field.enum_type()->value(v)->name());
        of["type"] = "str";
        of["values"] = values;
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING:
        of["type"] = "str";
        break;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        of["type"] = "bool";
        break;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        of["type"] = "float";
        break;
      default:
        of["type"] = "int";
    }
    fields.append(of);
  }
}

py::dict schema() {
  py::dict all;
  for (const pb::Descriptor* message :
       {configs::Result::descriptor(), configs::Comparison::descriptor(), configs::WhatIf::descriptor(),
        configs::LayerReport::descriptor(), configs::Validation::descriptor(), configs::ProfileReport::descriptor(),
        configs::Scenario::descriptor()})
    add_schema(*message, all);
  return all;
}

// Converts a scenario, with its fields as JSON, to the text of a scenario file.
std::string scenario_text(const std::string& json) {
  configs::Scenario scenario;
  if (const auto read = pb::util::JsonStringToMessage(json, &scenario); !read.ok())
    raise(cli::Failure(cli::kUserError, "a scenario's fields: " + std::string(read.message())));
  std::string text;
  pb::TextFormat::PrintToString(scenario, &text);
  return text;
}

// Writes a file as the commands do: whole, or not at all.
void write_file(const std::string& path, const std::string& text) {
  if (auto written = cli::write_output(path, text); !written) raise(written.error());
}

}  // namespace
}  // namespace warpfold

PYBIND11_MODULE(_warpfold, module) {
  using namespace warpfold;
  google::protobuf::SetLogHandler(nullptr);  // keeps protobuf's remarks on bad input from appearing beside our exception
  const auto exception = [&](const char* name, py::handle base, const char* doc) {
    const py::object type = py::reinterpret_steal<py::object>(
        PyErr_NewExceptionWithDoc((std::string("warpfold.") + name).c_str(), doc, base.ptr(), nullptr));
    module.attr(name) = type;
    return type;
  };
  const py::object error =
      exception("WarpfoldError", PyExc_Exception, "A command ended without a result. exit_code, file, line, column, message.");
  exception_of(cli::kInternalError) = exception("InternalError", error, "A defect of Warpfold.");
  exception_of(cli::kUserError) =
      exception("InputError", error, "Something is wrong with the input: file, line and column say where.");
  exception_of(cli::kDeadlock) =
      exception("DeadlockError", error, "The simulated program deadlocks: the text names the warps that wait, and for what.");
  exception_of(cli::kCannotWrite) = exception(
      "OutputError", error, "A file cannot be written: a full disk, no permission. What was there before is still there.");
  module.def(
      "ask", &ask, py::arg("words"), py::arg("watcher") = py::none(),
      "What `warpfold WORDS...` would write to standard output. `watcher` is called with what is counted, how many are done, and "
      "of how many.");
  module.def("schema", &schema, "Fields of all messages of results and scenarios, by the message's name.");
  module.def("scenario_text", &scenario_text, py::arg("json"), "A scenario given as JSON as the text of a file.");
  module.def("write_file", &warpfold::write_file, py::arg("path"), py::arg("text"), "Replaces a file, whole or not at all.");
  module.def(
      "set_config_folder", [](const std::string& folder) { configs::set_config_folder(folder); }, py::arg("folder"));
  module.attr("__version__") = WARPFOLD_VERSION;
}
