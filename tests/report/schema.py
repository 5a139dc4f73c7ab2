"""What the .proto files say: which fields each message has. A path such as result.kernels[0].cycles is held against them."""

import pathlib
import re

ROOTS = {"result": "Result", "comparison": "Comparison"}
SCALARS = {"string", "double", "bool", "uint32", "uint64", "int32", "int64"}


class Schema:
    def __init__(self, root):
        self.messages = {}
        for path in sorted(pathlib.Path(root, "configs").glob("*.proto")):
            self._read(re.sub(r"//[^\n]*", "", path.read_text()))

    def _read(self, text):
        stack = []
        token = r"(message|oneof|enum)\s+(\w+)\s*\{|(repeated\s+|optional\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+[^;]*;|(\})|\w+\s*=\s*\d+\s*;"
        for found in re.finditer(token, text):
            kind, name, label, of, field, close = found.groups()
            if kind:
                owner = stack[-1] if kind == "oneof" and stack else name
                stack.append(owner)
                if kind == "message":
                    self.messages[name] = {}
            elif close:
                stack.pop()
            elif field and stack:
                self.messages.setdefault(stack[-1], {})[field] = (of.split(".")[-1], (label or "").strip() == "repeated")

    def problem(self, path):
        """Why there is no such field; None if there is one."""
        steps = path.split(".")
        if re.fullmatch(r"[A-Z]\d*", steps[0]):
            steps = steps[1:]
        kind = ROOTS.get(steps[0])
        if kind is None:
            return f"{path} does not begin at a result or a comparison"
        for step in steps[1:]:
            name, index = re.fullmatch(r"(\w+)(\[\d+\])?", step).groups()
            fields = self.messages.get(kind, {})
            if name not in fields:
                return f"{path}: {kind} has no field {name}"
            kind, repeated = fields[name]
            if index and not repeated:
                return f"{path}: {name} is no list"
        return None


def paths_of(formula):
    """The fields in a formula such as (a.b[0].c + a.b[1].c) / a.d: what is neither a number nor an operator."""
    words = re.findall(r"[A-Za-z_][\w.\[\]]*", re.sub(r"(?<![\w[])\d[\w.]*", " ", formula))
    return [word for word in words if "." in word]
