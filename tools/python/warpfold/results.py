"""Results as objects: the fields of `--format json` as attributes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional

from . import _warpfold

_SCHEMA: dict[str, list[dict[str, Any]]] = _warpfold.schema()
_FIELDS = {message: {field["name"]: field for field in fields} for message, fields in _SCHEMA.items()}


class Record:
    """A message of a result, its fields as attributes; an optional one that is not there is None.

    >>> result.kernels[0].occupancy.warps_per_sm

    `dir(record)` and `record.fields()` name them; docs/result.md says what each is.
    """

    __slots__ = ("_data",)
    _message = "Record"

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def fields(self) -> list[str]:
        return list(_FIELDS.get(self._message, self._data))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        field = _FIELDS.get(self._message, {}).get(name)
        if field is None and name not in self._data:
            raise AttributeError(f"{self._message} has no field {name!r}; its fields: {', '.join(self.fields())}")
        value = self._data.get(name, [] if field and field["list"] else None)
        kind = field["type"] if field else ""
        if isinstance(value, dict):
            return record(value, kind)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return [record(each, kind) for each in value]
        return value

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.fields()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._data == other._data

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._data.items() if not isinstance(value, (dict, list)))
        return f"<{self._message} {shown}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def to_dict(self) -> dict[str, Any]:
        """The same as --format json."""
        return self._data

    def to_pandas(self, field: Optional[str] = None) -> Any:
        """A list of the record as a pandas DataFrame, nested fields as alone.time_us; by default its first list of messages."""
        import pandas

        if field is None:
            lists = [name for name, value in self._data.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
            if not lists:
                raise ValueError(f"{self._message} has no list; its fields: {', '.join(self.fields())}")
            field = "kernels" if "kernels" in lists else lists[0]
        return pandas.json_normalize(self._data[field])

    def html(self) -> str:
        """The page of `warpfold report --html`; results and comparisons have one."""
        with tempfile.TemporaryDirectory() as folder:
            saved, page = Path(folder) / "result.json", Path(folder) / "page.html"
            saved.write_text(json.dumps(self._data))
            _warpfold.ask(["report", str(saved), "--html", str(page)])
            return page.read_text()

    def _repr_html_(self) -> Optional[str]:
        if self._message not in ("Result", "Comparison"):
            return None
        page = self.html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" width="100%" height="720" style="border: 0"></iframe>'


def _class_of(message: str) -> type[Record]:
    return type(message, (Record,), {"__slots__": (), "_message": message})


_CLASSES = {message: _class_of(message) for message in _SCHEMA}
globals().update(_CLASSES)


def record(data: dict[str, Any], message: str) -> Record:
    """The object of a message's class: Result, Comparison, KernelResult, ..."""
    return _CLASSES.get(message, Record)(data)
