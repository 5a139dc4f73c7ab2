"""Descriptions of Doxygen's XML as reStructuredText."""

import re


def text_of(element):
    """Documentation of a declaration."""
    parts = [paragraphs(element.find(name)) for name in ("briefdescription", "detaileddescription")]
    return "\n\n".join(part for part in parts if part)


def paragraphs(element):
    if element is None:
        return ""
    return "\n\n".join(part for para in element.findall("para") for part in blocks(para))


def blocks(para):
    """A paragraph's words, and its lists and preformatted lines set apart."""
    words, found = escaped(para.text), []
    for child in para:
        if child.tag in ("itemizedlist", "orderedlist"):
            found += [words, "\n".join("- " + indented(paragraphs(item), "  ").strip() for item in child.findall("listitem"))]
            words = ""
        elif child.tag in ("verbatim", "preformatted", "programlisting"):
            lines = "\n".join(map(line_text, child.findall("codeline"))) if child.tag == "programlisting" else "".join(child.itertext())
            found += [words, ".. code-block:: text\n\n" + indented(lines.strip("\n"))]
            words = ""
        elif child.tag == "computeroutput":
            code = "".join(child.itertext())
            words += f"\\ ``{code}``\\ " if code.strip() == code and code else escaped(code)
        else:
            words += inline(child)
        words += escaped(child.tail)
    return [part for part in [*found, words] if part.strip()]


def inline(element):
    """Words inside of tags whose looks do not matter here."""
    if element.tag in ("ndash", "mdash"):
        return "-" * (2 if element.tag == "ndash" else 3)
    return escaped("".join(element.itertext()))


def line_text(line):
    return "".join(" " if node.tag == "sp" else node.text or "" for node in line.iter() if node is not line) if len(line) else ""


def escaped(text):
    return re.sub(r"([\\*`|_:])", r"\\\1", " ".join((text or "").split("\n")))


def indented(text, by="   "):
    return "\n".join(by + line if line else "" for line in text.split("\n"))
