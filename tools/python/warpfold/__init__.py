"""Warpfold: times of GPU kernels that share streaming multiprocessors, and the causes of their delays.

    import warpfold as wf
    result = wf.simulate("qkv_philox_small", gpu="h200_sxm", **{"kernel.rng.philox.rounds": 5})
    print(result.total_time_us, [(kernel.name, kernel.slowdown_vs_solo) for kernel in result.kernels])

Each function asks the command of the same name (`warpfold COMMAND --help`) in this process. Scenarios, GPUs, models and
studies are files, names (`wf.names("gpus")`) or, for scenarios, `Scenario` objects. Keyword arguments that a function does
not know are settings: fields of the scenario or its parameters, as `--set` takes them, wildcards included. A value of None is
`--unset`; a name that ends in + or - adds to a list or removes from it. Errors are exceptions with `file`, `line` and `column`;
Ctrl-C stops a simulation.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tempfile
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from . import _warpfold
from ._warpfold import DeadlockError, InputError, InternalError, OutputError, WarpfoldError, __version__
from .results import Comparison, LayerReport, ProfileReport, Record, Result, Validation, record
from .scenarios import Scenario

__all__ = [
    "DeadlockError", "InputError", "InternalError", "OutputError", "Record", "Scenario", "WarpfoldError", "ask", "compare", "gpu", "hot",
    "import_sass", "layer", "model", "names", "occupancy", "profile", "progress", "record", "roofline", "simulate", "study", "validate",
    "whatif",
]

ScenarioLike = Union[str, os.PathLike, Scenario]


def _find_configs() -> None:
    here = Path(__file__).resolve().parent
    for folder in (here / "configs", here.parents[2] / "configs", Path(sys.prefix) / "share/warpfold/configs",
                   Path("/usr/share/warpfold/configs")):
        if (folder / "gpus").is_dir():
            _warpfold.set_config_folder(str(folder))
            return


_find_configs()

_watcher: ContextVar[Optional[Callable[[str, int, int], Any]]] = ContextVar("warpfold_watcher", default=None)


def _draw(what: str, done: int, steps: int) -> None:
    end = "\n" if done == steps else ""
    print(f"\r{what}: {done} of {steps}", end=end, file=sys.stderr, flush=True)


@contextmanager
def progress(watch: Callable[[str, int, int], Any] = _draw) -> Iterator[None]:
    """Within this context, commands that count steps call `watch` with the kind of step, the number done and the total. By default,
    these are written to stderr. An exception in `watch` stops the command and is raised by it.

        with wf.progress():
            wf.study("small_pair", "small")
    """
    token = _watcher.set(watch)
    try:
        yield
    finally:
        _watcher.reset(token)


def ask(command: str, *words: Union[str, os.PathLike], **options: Any) -> str:
    """Returns the standard output of `warpfold COMMAND WORDS... --OPTION VALUE...`.

    Options are named with _ for -; True is a flag without a value, None and False leave it out, a list gives it often.
    """
    line = [command, *map(os.fspath, words)]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                line.append(flag)
            elif each is not None and each is not False:
                line += [flag, os.fspath(each) if isinstance(each, os.PathLike) else str(each)]
    return _warpfold.ask(line, _watcher.get())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _settings(settings: Mapping[str, Any]) -> list[str]:
    return [f"{path}={_value(value)}" for path, value in settings.items() if value is not None]


def _unset(settings: Mapping[str, Any]) -> list[str]:
    return [path for path, value in settings.items() if value is None]


def _of_scenario(command: str, scenario: ScenarioLike, settings: Mapping[str, Any], message: str, **options: Any) -> Any:
    if isinstance(scenario, Scenario):
        with tempfile.TemporaryDirectory() as folder:
            return _of_scenario(command, scenario.write(folder), settings, message, **options)
    answer = json.loads(ask(command, scenario, unset=_unset(settings), set=_settings(settings), format="json", **options))
    return [record(each, message) for each in answer] if isinstance(answer, list) else record(answer, message)


def _policy(settings: dict[str, Any], policy: Optional[str]) -> dict[str, Any]:
    return settings if policy is None else {"policy.kind": policy.upper(), **settings}


def simulate(scenario: ScenarioLike, *, gpu: Union[str, os.PathLike, None] = None, policy: Optional[str] = None,
             fold: Optional[str] = None, fold_error: Optional[float] = None, timeline: bool = False, jobs: Optional[int] = None,
             **settings: Any) -> Result:
    """The kernels of a scenario together, and each alone: times, stalls, contention. Returns a Result."""
    return _of_scenario("simulate", scenario, _policy(settings, policy), "Result", gpu=gpu, fold=fold, fold_error=fold_error,
                        timeline=timeline, jobs=jobs)


def compare(scenario: ScenarioLike, policies: Union[str, Iterable[str], None] = None, *, gpu: Union[str, os.PathLike, None] = None,
            fold: Optional[str] = None, fold_error: Optional[float] = None, jobs: Optional[int] = None,
            **settings: Any) -> Comparison:
    """The scenario under several policies, each compared with the first. Returns a Comparison.

    Without `policies`: the policies that the scenario names in `compare`, else SEQUENTIAL and CONCURRENT; "all": all that apply.
    """
    policies = ",".join(policies) if policies is not None and not isinstance(policies, str) else policies
    return _of_scenario("compare", scenario, settings, "Comparison", policies=policies, gpu=gpu, fold=fold,
                        fold_error=fold_error, jobs=jobs)


def occupancy(scenario: ScenarioLike, *, steps: Optional[int] = None, gpu: Union[str, os.PathLike, None] = None,
              policy: Optional[str] = None, jobs: Optional[int] = None, **settings: Any) -> Result:
    """CTAs per SM of each kernel, their limiter, and the gain of a smaller footprint: occupancy of the Result."""
    return _of_scenario("occupancy", scenario, _policy(settings, policy), "Result", steps=steps, gpu=gpu, jobs=jobs)


def whatif(scenario: ScenarioLike, resources: Union[str, Iterable[str]] = "all", *, factor: Optional[float] = None,
           gpu: Union[str, os.PathLike, None] = None, policy: Optional[str] = None, jobs: Optional[int] = None,
           **settings: Any) -> Result:
    """More and less of every resource in turn, and the gain: what_if of the Result."""
    resources = resources if isinstance(resources, str) else ",".join(resources)
    return _of_scenario("whatif", scenario, _policy(settings, policy), "Result", resources=resources, factor=factor, gpu=gpu,
                        jobs=jobs)


def model(scenario: ScenarioLike, *, gpu: Union[str, os.PathLike, None] = None, **settings: Any) -> Result:
    """The limiter model: the limiter of each kernel, in sequence, fused and overlapped. Returns a Result."""
    return _of_scenario("model", scenario, settings, "Result", gpu=gpu)


def roofline(scenario: ScenarioLike, *, gpu: Union[str, os.PathLike, None] = None, **settings: Any) -> Result:
    """Operations and bytes of each kernel against the GPU's limits. Returns a Result."""
    return _of_scenario("roofline", scenario, settings, "Result", gpu=gpu)


def hot(scenario: ScenarioLike, *, gpu: Union[str, os.PathLike, None] = None, top: Optional[int] = None,
        **settings: Any) -> list[Record]:
    """The instructions at which warps wait longest, and the causes of the waits."""
    return _of_scenario("hot", scenario, settings, "HotInstruction", gpu=gpu, top=top)


def layer(model: Union[str, os.PathLike], *, gpu: Union[str, os.PathLike, None] = None, fused: bool = False,
          simulation: bool = True, options: Mapping[str, Any] = {}, **settings: Any) -> LayerReport:
    """A transformer's layer, operator by operator. `options`: others of the command, such as {"train": 15e12}. Returns a LayerReport."""
    text = ask("layer", model, set=_settings(settings), format="json", gpu=gpu, fused=fused, no_simulation=not simulation, **options)
    return record(json.loads(text), "LayerReport")


def validate(*data: Union[str, os.PathLike], gpu: Optional[str] = None, kernel: Optional[str] = None,
             profile: bool = False, jobs: Optional[int] = None, **settings: Any) -> Validation:
    """Simulations beside measured rows (CSV), or beside the launches of profiles (profile=True). Settings are of the GPU: {"gpu.clock_mhz": 1830}. Returns a Validation."""
    text = ask("validate", *data, set=_settings(settings), format="json", gpu=gpu, kernel=kernel, profile=profile, jobs=jobs)
    return record(json.loads(text), "Validation")


def profile(trace: Union[str, os.PathLike], *, gpu: Union[str, os.PathLike, None] = None, kernels: Optional[int] = None,
            candidates: Optional[int] = None, independent: Sequence[str] = (), range: Optional[str] = None,
            execution_trace: Union[str, os.PathLike, None] = None, opaque: Optional[str] = None,
            names: Union[str, os.PathLike, None] = None, html: Union[str, os.PathLike, None] = None,
            perfetto: Union[str, os.PathLike, None] = None, jobs: Optional[int] = None) -> ProfileReport:
    """A profile of torch.profiler or Nsight: its kernels simulated, and which run beside which. independent=["gemm,softmax"];
    range="layer0": only launches in ranges of this name (torch.profiler.record_function, NVTX). opaque="issue": the limiter of
    kernels that are not simulated. execution_trace: the file of torch.profiler's
    ExecutionTraceObserver of the same run. names: a table of your own kernels' names and sizes. Returns a ProfileReport;
    to_pandas("kernels") has a row a kernel. `html` and `perfetto` are files to write as well."""
    text = ask("profile", trace, format="json", gpu=gpu, kernels=kernels, candidates=candidates, independent=independent,
               range=range, execution_trace=execution_trace, opaque=opaque, names=names, html=html, perfetto=perfetto, jobs=jobs)
    return record(json.loads(text), "ProfileReport")


def study(study: Union[str, os.PathLike], output: Union[str, os.PathLike, None] = None, *, gpu: Union[str, os.PathLike, None] = None,
          axis: Sequence[str] = (), where: Sequence[str] = (), policies: Union[str, Iterable[str], None] = None,
          jobs: Optional[int] = None, **settings: Any) -> dict[str, list[dict[str, str]]]:
    """Simulates a study's grid. Returns all points under "points" and, with a folder `output`, where finished points stay, the rows of
    each figure's table.

    With `axis` the study is a scenario's: axis=["gpu.sm.tensor.scale=1..4", "gpu.sm_count=100..160 step 10"], policies="fused,carve_out".
    """
    policies = policies if policies is None or isinstance(policies, str) else ",".join(policies)
    points = ask("study", study, unset=_unset(settings), set=_settings(settings), output=output, gpu=gpu, jobs=jobs,
                 axis=list(axis), where=list(where), policies=policies, format="csv")
    tables = {"points": list(csv.DictReader(io.StringIO(points)))}
    if output is None:
        return tables
    return tables | {path.stem: list(csv.DictReader(io.StringIO(path.read_text()))) for path in sorted(Path(output).glob("*.csv"))}


def import_sass(listing: Union[str, os.PathLike], output: Union[str, os.PathLike], **options: Any) -> str:
    """Makes a kernel of a SASS listing (`warpfold import --help`) and writes it to `output`, .wft or .wfs. Returns what it says."""
    return ask("import", listing, output=output, **options)


def gpu(name: Union[str, os.PathLike]) -> dict[str, str]:
    """Every field of a GPU as text, by its path."""
    rows = csv.DictReader(io.StringIO(ask("gpu", "show", name, format="csv")))
    return {row["field"]: row["value"] for row in rows}


def names(kind: str) -> list[str]:
    """Names that come with Warpfold: kind is scenarios, gpus, models, studies or kernels."""
    return [row["name"] for row in csv.DictReader(io.StringIO(ask("list", kind, format="csv")))]
