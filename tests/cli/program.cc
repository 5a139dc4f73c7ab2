#include "program.h"
#include "tests/source_dir.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpfold::cli {

namespace {

// In the child: from here to exec only calls that are safe after fork.
[[noreturn]] void execute(const char* folder, const char* out, const char* err, char* const* arguments) {
  const int out_file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out_file >= 0 && err_file >= 0 && dup2(out_file, STDOUT_FILENO) >= 0 && dup2(err_file, STDERR_FILENO) >= 0 &&
      chdir(folder) == 0) {
    execv(WARPFOLD_PROGRAM, arguments);
  }
  _exit(127);
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Program::Program() {
  std::string name = (std::filesystem::temp_directory_path() / "warpfold-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  std::filesystem::create_directory(folder_ / "work");
}

Program::~Program() { std::filesystem::remove_all(folder_); }

Ended Program::run(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{"warpfold"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string work = (folder_ / "work").string();
  const std::string out = (folder_ / "out").string();
  const std::string err = (folder_ / "err").string();
  const pid_t child = fork();
  if (child == 0) execute(work.c_str(), out.c_str(), err.c_str(), pointers.data());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("cannot run the program");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(out), read_bytes(err)};
}

void Program::read_message(std::vector<std::string> arguments, google::protobuf::Message& message) const {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run(arguments);
  if (ended.exit_code != 0) throw std::runtime_error(ended.err);
  const auto status = google::protobuf::util::JsonStringToMessage(ended.out, &message);
  if (!status.ok()) throw std::runtime_error(status.ToString() + " in " + ended.out);
}

std::string Program::refused(const std::vector<std::string>& arguments) const {
  const Ended ended = run(arguments);
  return ended.exit_code == 2 && ended.out.empty() ? ended.err : "exit code " + std::to_string(ended.exit_code);
}

void Program::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / "work" / name, std::ios::binary) << text;
}

std::string Program::read(const std::string& name) const { return read_bytes(folder_ / "work" / name); }

std::vector<std::string> Program::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "work")) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string small_scenario() {
  return "gpu_file: \"" WARPFOLD_SOURCE_DIR
         "/configs/gpus/h100_sxm.textproto\"\n"
         "parameter { name: \"heads\" value: 8 sets { path: \"kernel.rng.philox.heads\" } }\n"
         "kernel {\n"
         "  name: \"first\"\n"
         "  philox { heads: 8 queries: 512 keys: 512 rounds: 10 threshold_bits: 8 threads_per_cta: 128 }\n"
         "}\n"
         "kernel {\n"
         "  name: \"rng\"\n"
         "  stream: 1\n"
         "  philox { queries: 512 keys: 512 rounds: 7 threshold_bits: 8 threads_per_cta: 128 }\n"
         "}\n"
         "policy {\n"
         "  kind: CONCURRENT\n"
         "  reserve { kernel: \"rng\" register_percent: 25 warp_slot_percent: 25 }\n"
         "}\n";
}

std::string stuck_kernel() {
  return "kernel stuck architecture=sm_90 registers=32 shared_memory=1024 cluster=1\n"
         "  class all\n"
         "  grid all*1\n"
         "  ring full depth=1 arrivals=1\n"
         "  cursor at depth=1 start=0\n"
         "  role waiter warps=1\n"
         "    [B------:R-:W0:-:S02] SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ; {barrier=0 cursor=0}\n"
         "    [B0-----:R-:W-:-:S05] EXIT ;\n"
         "  end\n"
         "end\n";
}

}  // namespace warpfold::cli
