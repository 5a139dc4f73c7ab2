"""Scenarios as objects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Optional

from . import _warpfold


class Scenario:
    """Kernels, how they share the machine, and the machine: the content of a scenario's file (configs/scenario.proto).

        pair = wf.Scenario("pair", gpu="h100_sxm", policy="CONCURRENT")
        pair.kernel("qkv", hopper_gemm={"m": 2048, "n": 6144, "k": 2048, "type": "BF16"})
        pair.kernel("rng", philox={"queries": 2048, "keys": 2048, "heads": 16})
        wf.simulate(pair)

    `base`: the name or file of a scenario that this one changes, in single places by `set` and `unset`. Other fields of a scenario are keyword arguments.
    """

    def __init__(self, name: str = "scenario", *, gpu: Optional[str] = None, policy: Optional[str] = None,
                 base: Optional[str] = None, **fields: Any) -> None:
        self._fields: dict[str, Any] = {"name": name, **fields}
        if gpu is not None:
            self._fields["gpu_file"] = _absolute(gpu)
        if policy is not None:
            self._fields["policy"] = {"kind": policy.upper(), **self._fields.get("policy", {})}
        if base is not None:
            self._fields["base"] = _absolute(base)

    def kernel(self, name: str, **workload: Any) -> "Scenario":
        """Adds a kernel: fields of its generator or trace as a dict (hopper_gemm={...}), and fields of its launches (stream=1)."""
        self._fields.setdefault("kernel", []).append({"name": name, **workload})
        return self

    def set(self, *changes: str) -> "Scenario":
        """Changes of `base`, behind all other fields: "kernel.rng.philox.rounds=5", "kernel.*.after-=rng" (docs/scenarios.md)."""
        self._fields.setdefault("set", []).extend(changes)
        return self

    def unset(self, *paths: str) -> "Scenario":
        """Removes the values that the scenario of `base` has at the paths, before `set` is carried out."""
        self._fields.setdefault("unset", []).extend(paths)
        return self

    def to_text(self) -> str:
        """As a file holds it."""
        return _warpfold.scenario_text(json.dumps(self._fields))

    def write(self, folder: str) -> str:
        """Writes the scenario into the folder, under its name with _ for characters that file names lack; returns the file."""
        path = Path(folder) / (re.sub(r"[^\w-]", "_", self._fields["name"]) + ".textproto")
        _warpfold.write_file(str(path), self.to_text())
        return str(path)

    def __repr__(self) -> str:
        return f"<Scenario\n{self.to_text()}>"


def _absolute(name_or_file: str) -> str:
    path = Path(name_or_file)
    return str(path.resolve()) if path.exists() else name_or_file
