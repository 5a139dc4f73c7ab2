"""API reference: the C++ headers that are installed, a page for each folder, and the Python package.

Doxygen reads the headers (doc_comments makes their comments its own); its XML becomes declarations of Sphinx's C++ domain, which
links types and puts names into the search.
"""

import collections
import os
import subprocess
import sys
import xml.etree.ElementTree as tree

from rst import indented, text_of

# As tools/install/Install.cmake installs them.
FOLDERS = ["configs", "isa", "traces", "workloads", "sim", "tools/report", "tools/perfetto", "tools/validation", "tools/warpfold"]
PARTS = ("public-type", "public-func", "public-static-func", "public-attrib", "public-static-attrib", "user-defined")


def write(root, work, sources, folders):
    files = Headers(make_xml(root, work, folders))
    by_folder = collections.defaultdict(list)
    for header in sorted(files.by_path):
        by_folder[os.path.dirname(header)].append(header)
    for folder, headers in by_folder.items():
        sections = "".join(f"{header}\n{'-' * len(header)}\n\n{files.declarations(header)}\n" for header in headers)
        sources.write(f"api/cpp/{folder}.rst", f"{folder}\n{'=' * len(folder)}\n\n{sections}")
    pages = "".join(f"cpp/{folder}\n" for folder in by_folder)
    sources.write("api/cpp.md", f"{CPP}\n```{{toctree}}\n:maxdepth: 2\n\n{pages}```\n")
    sources.write("api/python.md", PYTHON)


def make_xml(root, work, folders):
    settings = (root / "tools/site/Doxyfile").read_text()
    settings += f"INPUT = {' '.join(folders)}\nOUTPUT_DIRECTORY = {work}\nXML_OUTPUT = xml\nFILTER_PATTERNS = *.h=tools/site/doc_comments\n"
    made = subprocess.run(["doxygen", "-"], input=settings, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        sys.exit(made.stdout + "doxygen failed")
    return work / "xml"


class Headers:
    """Declarations of the headers, as reStructuredText."""

    def __init__(self, folder):
        self._folder = folder
        self.by_path = {}
        for path in folder.glob("*_8h.xml"):
            file = tree.parse(path).find("compounddef")
            self.by_path[file.find("location").get("file")] = []
        for path in folder.glob("namespace*.xml"):
            namespace = tree.parse(path).find("compounddef")
            for part in namespace.findall("sectiondef"):
                for member in part.findall("memberdef"):
                    self._add(member, namespace, member_text(member))
            for inner in namespace.findall("innerclass"):
                compound = self._class(inner)
                self._add(compound, namespace, self._class_text(compound, inner.text.rpartition("::")[2]))

    def _add(self, element, namespace, text):
        found = element.find("location")
        name = namespace.findtext("compoundname")
        if found.get("file") in self.by_path and "@" not in name and not name.endswith(("detail", "internal")):
            self.by_path[found.get("file")].append((int(found.get("line")), name, text))

    def declarations(self, header):
        text, last = "", None
        for _, namespace, declaration in sorted(self.by_path[header]):
            text += (f".. cpp:namespace:: {namespace}\n\n" if namespace != last else "") + declaration + "\n"
            last = namespace
        return text

    def _class(self, inner):
        return tree.parse(self._folder / (inner.get("refid") + ".xml")).find("compounddef")

    def _class_text(self, compound, name):
        bases = ", ".join(f"{base.get('prot')} {base.text}" for base in compound.findall("basecompoundref"))
        inside = [(line_of(member), member_text(member, True)) for part in compound.findall("sectiondef") if part.get("kind") in PARTS
                  for member in part.findall("memberdef")]
        for inner in compound.findall("innerclass"):
            if inner.get("prot") == "public" and "@" not in inner.text:
                nested = self._class(inner)
                inside.append((line_of(nested), self._class_text(nested, inner.text.rpartition("::")[2])))
        body = "\n".join(text for _, text in sorted(inside))
        signature = template_of(compound) + name + (f" : {bases}" if bases else "")
        return directive("class" if compound.get("kind") == "class" else "struct", signature, text_of(compound), body)


def member_text(member, in_class=False):
    name, kind = member.findtext("name"), member.get("kind")
    if not name or "@" in name:
        return ""
    if kind == "enum":
        values = "\n".join(directive("enumerator", f"{value.findtext('name')} {all_text(value.find('initializer'))}", text_of(value), "")
                           for value in member.findall("enumvalue"))
        return directive("enum-class" if member.get("strong") == "yes" else "enum", name, text_of(member), values)
    type_name = all_text(member.find("type"))
    if kind == "typedef":
        return directive("type", f"{template_of(member)}{name} = {type_name}", text_of(member), "")
    if kind == "function":
        words = ["static"] if in_class and member.get("static") == "yes" else []
        words += ["virtual"] if member.get("virt") in ("virtual", "pure-virtual") else []
        signature = " ".join([*words, type_name, name]) + all_text(member.find("argsstring"))
        return directive("function", template_of(member) + signature.strip(), text_of(member), "")
    if kind == "variable":
        value = all_text(member.find("initializer"))
        value = value if len(value) < 60 and "\n" not in value else ""
        return directive("member", f"{type_name} {name}{all_text(member.find('argsstring'))} {value}", text_of(member), "")
    return ""


def directive(kind, signature, text, body):
    signature = " ".join(signature.split())
    return "\n\n".join([f".. cpp:{kind}:: {signature}", *(indented(part) for part in (text, body) if part.strip())]) + "\n"


def template_of(element):
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    words = []
    for parameter in parameters.findall("param"):
        name, default = parameter.findtext("declname", ""), parameter.find("defval")
        words.append(f"{all_text(parameter.find('type'))} {name}" + (f" = {all_text(default)}" if default is not None else ""))
    return f"template<{', '.join(words)}> "


def line_of(element):
    return int(element.find("location").get("line"))


def all_text(element):
    return "" if element is None else "".join(element.itertext())


CPP = """# C++

The headers that `cmake --install` and `libwarpfold-dev` bring, a page for each folder. `find_package(Warpfold)` and
[a project of one's own](../docs/install.md#in-a-project-of-ones-own) say how to build against them.
"""
PYTHON = """# Python

[Python](../docs/python.md) shows how the package is used; the fields of results are those of [the JSON](../docs/result.md).

```{eval-rst}
.. automodule:: warpfold
   :members:
   :imported-members:
   :exclude-members: Any, Iterable, Mapping, Optional, Sequence, Union, Path
```
"""
