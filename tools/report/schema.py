"""The schemas of the .proto files in configs/: the fields of each message and their comments."""

import collections
import pathlib
import re

ROOTS = {"result": "Result", "comparison": "Comparison", "validation": "Validation", "layer": "LayerReport",
         "profile": "ProfileReport"}

Field = collections.namedtuple("Field", "name type repeated optional comment")
Message = collections.namedtuple("Message", "name file comment fields")

FIELD = re.compile(r"\s*(repeated\s+|optional\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+\s*(?:\[[^]]*\])?;(?:\s*//\s*(.*))?\s*$")


class Schema:
    """All messages by name, in the order of the files; enums are messages without fields, their values in `enums`, the comments
    of the values in `value_comments`, by enum and value."""

    def __init__(self, root):
        self.messages = {}
        self.enums = {}
        self.value_comments = {}
        for path in sorted(pathlib.Path(root, "configs").glob("*.proto")):
            self._read(path)

    def _read(self, path):
        stack = []
        above = []  # comment lines above the next declaration
        last = None  # the field whose comment the next line may continue
        for line in path.read_text().splitlines():
            comment = re.fullmatch(r"\s*//\s?(.*)", line)
            field = FIELD.match(line)
            begins = re.match(r"\s*(message|enum|oneof)\s+(\w+)\s*\{", line)
            if comment and last and len(line) - len(line.lstrip()) > 8:
                owner, name = last
                if owner in self.enums:
                    of = self.value_comments[owner]
                    of[name] = f"{of[name]} {comment[1].strip()}".strip()
                    continue
                fields = self.messages[owner].fields
                fields[name] = fields[name]._replace(comment=f"{fields[name].comment} {comment[1].strip()}".strip())
                continue
            last = None
            if comment:
                above.append(comment[1].strip())
                continue
            if begins:
                name = stack[-1] if begins[1] == "oneof" else begins[2]
                stack.append(name)
                if begins[1] != "oneof":
                    self.messages[name] = Message(name, path.name, " ".join(above), {})
                if begins[1] == "enum":
                    self.enums[name] = []
                    self.value_comments[name] = {}
            elif stack and stack[-1] in self.enums:
                code, _, beside = line.partition("//")
                values = re.findall(r"(\w+)\s*=\s*\d+", code)
                self.enums[stack[-1]] += values
                for value in values:
                    self.value_comments[stack[-1]][value] = " ".join([*above, beside.strip()]).strip()
                    last = (stack[-1], value)
            elif field and stack:
                label = (field[1] or "").strip()
                text = " ".join([*above, (field[4] or "").strip()]).strip()
                kind = field[2].split(".")[-1]
                self.messages[stack[-1]].fields[field[3]] = Field(field[3], kind, label == "repeated", label == "optional", text)
                last = (stack[-1], field[3])
            if re.match(r"\s*\}", line) or (begins and line.rstrip().endswith("}")):
                stack.pop()
            above = []

    def problem(self, path):
        """Returns the reason if a path such as kernels[0].cycles is no field of a result; None if it is."""
        steps = path.split(".")
        if re.fullmatch(r"[A-Z]\d*", steps[0]):
            steps = steps[1:]
        kind = ROOTS.get(steps[0] if steps else "")
        if kind is None:
            return f"{path} does not begin at a result, a comparison, a validation, a layer or a profile"
        for step in steps[1:]:
            found = re.fullmatch(r"(\w+)(\[\d+\])?", step)
            fields = self.messages[kind].fields if kind in self.messages else {}
            if not found or found[1] not in fields:
                return f"{path}: {kind} has no field {step}"
            field = fields[found[1]]
            if found[2] and not field.repeated:
                return f"{path}: {field.name} is no list"
            kind = field.type
        return None


def paths_of(formula):
    """Returns the fields in a formula such as (a.b[0].c + a.b[1].c) / a.d: all words but numbers and operators."""
    words = re.findall(r"[A-Za-z_][\w.\[\]]*", re.sub(r"(?<![\w[])\d[\w.]*", " ", formula))
    return [word for word in words if "." in word]
