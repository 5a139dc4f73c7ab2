"""The Python package against the command: the same results, errors with their place, Ctrl-C.  test_package.py PROGRAM PACKAGE_FOLDER"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

PROGRAM, PACKAGE = sys.argv[1:3]
sys.path.insert(0, PACKAGE)
os.chdir(tempfile.mkdtemp())  # nothing is found because of where the tests run

import warpfold as wf  # noqa: E402


# The kernel's only warp waits for an mbarrier that no arrival completes.
STUCK = """kernel stuck architecture=sm_90 registers=32 shared_memory=1024 cluster=1
  class all
  grid all*1
  ring full depth=1 arrivals=1
  cursor at depth=1 start=0
  role waiter warps=1
    [B------:R-:W0:-:S02] SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ; {barrier=0 cursor=0}
    [B0-----:R-:W-:-:S05] EXIT ;
  end
end
"""


def command(*words):
    return json.loads(subprocess.run([PROGRAM, *words, "--format", "json"], check=True, capture_output=True, text=True).stdout)


def without_provenance(data):
    if isinstance(data, dict):
        return {key: without_provenance(value) for key, value in data.items() if key not in ("provenance", "command_line")}
    return [without_provenance(each) for each in data] if isinstance(data, list) else data


class Results(unittest.TestCase):
    def same(self, record, *words):
        self.assertEqual(without_provenance(record.to_dict()), without_provenance(command(*words)))

    def test_are_those_of_the_command(self):
        self.same(wf.simulate("qkv_philox_small", gpu="h200_sxm", policy="concurrent", rounds=5),
                  "simulate", "qkv_philox_small", "--gpu", "h200_sxm", "--set", "policy.kind=CONCURRENT", "--set", "rounds=5")
        self.same(wf.compare("qkv_philox_small", ["sequential", "carve_out"]),
                  "compare", "qkv_philox_small", "--policies", "sequential,carve_out")
        self.same(wf.layer("llama3_8b", simulation=False, fused=True, batch=2),
                  "layer", "llama3_8b", "--no-simulation", "--fused", "--set", "batch=2")
        trace = str(Path(__file__).resolve().parents[2] / "configs/profiles/pairs.json")
        self.same(wf.profile(trace, independent=["gemm,elementwise"]), "profile", trace, "--independent", "gemm,elementwise")
        self.same(wf.profile(trace, candidates=0, opaque="issue"), "profile", trace, "--candidates", "0", "--opaque", "issue")
        with self.assertRaisesRegex(wf.InputError, 'no range is called "layer0"'):
            wf.profile(trace, range="layer0")
        self.same(wf.validate(trace, profile=True), "validate", trace, "--profile")
        self.same(wf.model("qkv_philox_small"), "model", "qkv_philox_small")
        self.same(wf.compare("block", embedding=512, heads=4, seq=512, type="fp8", gpu="h200_sxm"),
                  "compare", "block", "embedding=512", "heads=4", "seq=512", "type=fp8", "gpu=h200_sxm")

    def test_follow_changes_of_lists_and_of_many_kernels(self):
        changed = wf.simulate("qkv_philox_small", **{"policy.reserve": None, "policy.kind": "concurrent",
                                                     "kernel.rng.after+": "qkv"})
        self.assertGreaterEqual(changed.kernels[1].start_cycle, changed.kernels[0].end_cycle)
        with self.assertRaisesRegex(wf.InputError, "matches nothing"):
            wf.simulate("qkv_philox_small", **{"kernel.*.ampere_gemm.m": 5})
        child = wf.Scenario("child", base="qkv_philox_small").set("rounds=5").unset("policy.reserve")
        self.assertEqual(wf.compare(child).results[0].policy, "SEQUENTIAL")

    def test_a_study_of_axes_gives_its_points(self):
        rows = wf.study("qkv_philox_small", "axes", axis=["seq=512..1024 times 2", "rounds=5,7"], where=["seq * rounds < 7000"],
                        policies=["sequential", "carve_out"], jobs=1)["points"]
        self.assertEqual([(row["seq"], row["rounds"]) for row in rows if row["policy"] == "CARVE_OUT" and row["estimator"] == "simulation"],
                         [("512", "5"), ("512", "7"), ("1024", "5")])
        with self.assertRaisesRegex(wf.InputError, "did you mean \"step\""):
            wf.study("qkv_philox_small", "axes", axis=["seq=1..9 stop 2"])

    def test_are_read_by_attribute(self):
        result = wf.simulate("qkv_philox_small")
        self.assertIsInstance(result, wf.results.Result)
        self.assertEqual([kernel.name for kernel in result.kernels], ["qkv", "rng"])
        self.assertEqual(result.kernels[1].occupancy.limiter, result.to_dict()["kernels"][1]["occupancy"]["limiter"])
        self.assertIsNone(result.timeline)
        with self.assertRaisesRegex(AttributeError, "no field 'total'; its fields: format, scenario"):
            result.total
        self.assertIn("total_time_us", dir(result))
        hottest = wf.hot("qkv_philox_small", top=1)[0]
        self.assertIn(hottest.kernel, ("qkv", "rng"))

    def test_have_a_page(self):
        page = wf.simulate("qkv_philox_small")._repr_html_()
        self.assertTrue(page.startswith("<iframe"))
        self.assertIn("qkv_philox_small", page)

    def test_come_from_several_threads(self):
        expected = [wf.simulate("qkv_philox_small", rounds=rounds).total_cycles for rounds in (5, 7)]
        got = {}
        threads = [threading.Thread(target=lambda r=r: got.update({r: wf.simulate("qkv_philox_small", rounds=r).total_cycles}))
                   for r in (5, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([got[5], got[7]], expected)


class Scenarios(unittest.TestCase):
    def pair(self, rounds):
        pair = wf.Scenario("pair", gpu="h100_sxm", policy="CONCURRENT")
        pair.kernel("qkv", hopper_gemm={"m": 1024, "n": 3072, "k": 1024, "type": "BF16"})
        return pair.kernel("rng", philox={"queries": 1024, "keys": 1024, "heads": 8, "rounds": rounds})

    def test_are_built_of_kernels(self):
        result = wf.simulate(self.pair(7))
        file = Path(self.pair(7).write("."))
        self.assertEqual(result.total_cycles, command("simulate", str(file))["total_cycles"])
        self.assertGreater(wf.simulate(self.pair(10)).total_cycles, 0)

    def test_are_written_below_their_folder_alone(self):
        self.assertEqual(wf.Scenario("../a/b").write("."), "___a_b.textproto")

    def test_change_another_one(self):
        changed = wf.Scenario("changed", base="qkv_philox_small", gpu="h200_sxm")
        self.assertEqual(wf.simulate(changed).total_cycles, wf.simulate("qkv_philox_small", gpu="h200_sxm").total_cycles)

    def test_say_what_is_no_field(self):
        with self.assertRaisesRegex(wf.InputError, "hopper_gemn"):
            wf.simulate(wf.Scenario("wrong", gpu="h100_sxm").kernel("k", hopper_gemn={"m": 64}))


class Errors(unittest.TestCase):
    def test_say_where(self):
        Path("wrong.textproto").write_text('base: "qkv_philox_small"\nkernel { nam: "x" }\n')
        with self.assertRaises(wf.InputError) as caught:
            wf.simulate("wrong.textproto")
        error = caught.exception
        self.assertEqual((error.exit_code, error.file, error.line, error.column), (2, "wrong.textproto", 2, 10))
        self.assertIn('did you mean "name"', error.message)
        self.assertIsInstance(error, wf.WarpfoldError)

    def test_of_a_disk_leave_the_old_file(self):
        Path("old.json").write_text("old")
        with self.assertRaisesRegex(wf.OutputError, "cannot write \"old.json/r.json\": Not a directory") as caught:
            wf.ask("simulate", "qkv_philox_small", output="old.json/r.json")
        self.assertEqual(caught.exception.exit_code, 5)
        with self.assertRaisesRegex(wf.OutputError, "No space left on device"):
            wf.ask("simulate", "qkv_philox_small", output="/dev/full", format="json")
        with self.assertRaisesRegex(wf.OutputError, "it is a directory"):
            os.mkdir("small.textproto")
            wf.Scenario("small", base="qkv_philox_small").write(".")
        self.assertEqual(Path("old.json").read_text(), "old")

    def test_of_a_deadlock_say_who_waits(self):
        Path("stuck.wfs").write_text(STUCK)
        stuck = wf.Scenario("stuck", gpu="h100_sxm").kernel("k", trace={"path": str(Path("stuck.wfs").resolve())})
        with self.assertRaisesRegex(wf.DeadlockError, "deadlock: nothing is left to happen"):
            wf.simulate(stuck)

    def test_ctrl_c_stops_a_simulation(self):
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(1000):
                wf.simulate("qkv_philox_llama3_70b", fold_error=0.0001)
        self.assertGreater(wf.simulate("qkv_philox_small").total_cycles, 0)  # the next one runs


class Layers(unittest.TestCase):
    def test_of_the_same_sizes_simulate_nothing_again(self):
        def seconds(layers):
            begun = time.process_time()
            report = wf.layer("llama3_8b", fused=True, layers=layers)
            return time.process_time() - begun, report.versions[0].time_us

        first, time_of_first = seconds(32)
        second, time_of_second = seconds(48)
        self.assertEqual(time_of_first, time_of_second)
        self.assertLess(second, 0.75 * first)


class Progress(unittest.TestCase):
    def test_is_told_to_a_watcher(self):
        told = []
        with wf.progress(lambda *now: told.append(now)):
            wf.whatif("flash_attention_3_h100", ["tensor", "issue_slot", "xu", "dram"], jobs=1)
        self.assertTrue(told)
        self.assertEqual({(what, steps) for what, _, steps in told if what == "what if"}, {("what if", 8)})
        done = [now for what, now, _ in told if what == "what if"]
        self.assertEqual(done, sorted(done))

    def test_is_stopped_by_what_the_watcher_raises(self):
        def watch(what, done, steps):
            raise LookupError(what)

        with wf.progress(watch), self.assertRaises(LookupError):
            wf.whatif("flash_attention_3_h100", jobs=1)
        self.assertGreater(wf.simulate("qkv_philox_small").total_cycles, 0)


class Names(unittest.TestCase):
    def test_are_listed(self):
        self.assertIn("b200", wf.names("gpus"))
        self.assertEqual(wf.gpu("b200")["architecture"].strip('"'), "sm_100")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
