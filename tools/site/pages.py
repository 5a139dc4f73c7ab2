"""The pages of the repository as Sphinx's sources: README.md is the first, docs/index.md says what the sidebar holds.

Files that pages link to, and folders, get a page each, so that a link ends inside the site.
"""

import base64
import json
import os
import pathlib
import re
import subprocess

LINK = re.compile(r"(\]\()([^()\s]+)(\))")
LANGUAGES = {".proto": "protobuf", ".py": "python", ".h": "cpp", ".cc": "cpp", ".cu": "cuda", ".cuh": "cuda", ".cmake": "cmake",
             ".textproto": "textproto"}
PICTURES = (".png", ".svg")


def write(root, sources, made):
    tracked = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.split("\n")
    tracked = [name for name in tracked if (root / name).is_file()]
    names = [name for name in tracked if name.endswith(".md") and (name.startswith("docs/") or "/" not in name)]
    files = set()
    for name in names:
        text = rewritten(root, name, (root / name).read_text(), files)
        sources.write(page_of(name), text + (index_end(root, names, made) if name == "README.md" else ""))
    for name in tracked:
        if name.startswith("docs/") and name.endswith(PICTURES):
            sources.write_bytes(name, (root / name).read_bytes())
    write_lists(root, sources, names)
    write_files(root, sources, tracked, files)


def page_of(name):
    return "index.md" if name == "README.md" else name


def rewritten(root, name, text, files):
    """The text of a page with links to files and folders led to their pages."""
    here = pathlib.PurePosixPath(name).parent

    def link(found):
        address, _, anchor = found[2].partition("#")
        if not address or re.match(r"[a-z]+:", address):
            return found[0]
        target = os.path.normpath(here / address)
        if not (root / target).exists():
            raise SystemExit(f"{name}: a link to {address}, which is not there")
        if target.endswith(PICTURES):
            return found[0]
        if not target.endswith(".md"):
            files.add(target)
            target = file_page(target)
        new = os.path.relpath(page_of(target), here)
        return found[1] + new + ("#" + anchor if anchor else "") + found[3]

    lines, code = [], False
    for line in text.split("\n"):
        code ^= line.lstrip().startswith("```")
        lines.append(line if code else LINK.sub(link, line))
    return "\n".join(lines)


def file_page(name):
    return f"files/{name}.md"


def write_files(root, sources, tracked, files):
    """A page for each file that a page links to; for a folder its files, which get pages too. The search knows the schemas alone."""
    inside = {folder: [name for name in tracked if name.startswith(folder + "/")] for folder in files if (root / folder).is_dir()}
    for folder, names in inside.items():
        here = "files/" + os.path.dirname(folder)
        items = "".join(f"- [{name[len(folder) + 1:]}]({os.path.relpath(file_page(name), here)})\n" for name in names)
        sources.write(file_page(folder), f"---\norphan: true\n---\n# {folder}\n\n{items}")
    for name in sorted({name for name in files if name not in inside} | {name for names in inside.values() for name in names}):
        language = LANGUAGES.get(pathlib.PurePath(name).suffix, "cmake" if name.endswith("CMakeLists.txt") else "text")
        text = (root / name).read_text()
        if name.endswith(".ipynb"):
            sources.write(file_page(name), "---\norphan: true\n---\n" + notebook(json.loads(text), file_page(name), sources))
            continue
        head = "orphan: true\n" if name.endswith(".proto") else "orphan: true\nnosearch: true\n"
        sources.write(file_page(name), f"---\n{head}---\n# {name}\n\n{fenced(language, text)}")


def notebook(content, page, sources):
    """A notebook's words and code, and the code's printed text and pictures."""
    text = ""
    for number, cell in enumerate(content["cells"]):
        words = "".join(cell["source"])
        text += f"{words}\n\n" if cell["cell_type"] == "markdown" else fenced("python", words)
        for place, output in enumerate(cell.get("outputs", [])):
            data = output.get("data", {})
            for kind, ending in (("image/svg+xml", "svg"), ("image/png", "png")):
                if kind in data:
                    picture = "".join(data[kind])
                    name = f"{page.removesuffix('.md')}.{number}.{place}.{ending}"
                    sources.write_bytes(name, base64.b64decode(picture) if ending == "png" else picture.encode())
                    text += f"![Drawn by the code above]({os.path.basename(name)})\n\n"
                    break
            else:
                text += fenced("text", "".join(output.get("text", data.get("text/plain", ""))))
    return text


def fenced(language, text):
    fence = "`" * 6
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"


def write_lists(root, sources, names):
    """Pages that hold the records and the notebooks together in the sidebar."""
    for folder, title in (("docs/decisions", "Decisions"), ("docs/notebook", "Notebooks")):
        inside = "".join(f"{os.path.basename(name)}\n" for name in names if name.startswith(folder + "/"))
        sources.write(f"{folder}/index.md", f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{inside}```\n")


def index_end(root, names, made):
    """The sidebar: the sections of docs/index.md with the pages that each names, then what is made here."""
    sections, named = [("", ["docs/index.md"])], {"README.md", "docs/index.md"}
    text = (root / "docs/index.md").read_text()
    for line in text.split("\n"):
        if line.startswith("## "):
            sections.append((line[3:], []))
        for found in LINK.finditer(line):
            target = os.path.normpath(os.path.join("docs", found[2].partition("#")[0]))
            if target.endswith(".md") and target not in named and not target.startswith(("docs/decisions/", "docs/notebook/")):
                named.add(target)
                sections[-1][1].append(target)
    sections.append(("Reference", made))
    sections.append(("Records", ["docs/decisions/index.md", "docs/notebook/index.md"]))
    rest = [name for name in names if name not in named and not name.startswith(("docs/decisions/", "docs/notebook/"))]
    sections.append(("More", rest))
    trees = ""
    for title, pages in sections:
        if pages:
            caption = f":caption: {title}\n" if title else ""
            trees += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n{caption}\n" + "\n".join(pages) + "\n```\n"
    return trees
