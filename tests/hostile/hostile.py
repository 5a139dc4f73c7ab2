"""Hostile texts for the tests of outputs, and the contents that no output may have."""

import csv
import io
import itertools
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
KINDS = {"n": b"\n", "r": b"\r", "t": b"\t"}


def texts():
    """The lines of tests/hostile/texts, as bytes."""
    found = []
    for line in (HERE / "texts").read_bytes().split(b"\n"):
        if line and not line.startswith(b"# "):
            found.append(re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda at: byte_of(at[1].decode()), line))
    return found


def byte_of(escape):
    return bytes([int(escape[1:], 16)]) if len(escape) == 3 else KINDS.get(escape, escape.encode())


def is_unseen(letter):
    """As configs/escape/utf8.h has it."""
    code = ord(letter)
    return (code < 0x20 or 0x7F <= code <= 0x9F or code == 0x61C or 0x200E <= code <= 0x200F or 0x2028 <= code <= 0x202E
            or 0x2066 <= code <= 0x2069 or code == 0xFEFF or 0xE0000 <= code <= 0xE007F)


def words():
    """The texts that are UTF-8 and seen, which a configuration takes."""
    decoded = []
    for text in texts():
        try:
            decoded.append(text.decode())
        except UnicodeDecodeError:
            continue
    return [text for text in decoded if not any(map(is_unseen, text))]


class Problems(list):
    def check(self, holds, message):
        if not holds:
            self.append(message)

    def plain(self, where, output, several=True):
        """The output is UTF-8, every character of it is seen, and no figure is missing without a word."""
        try:
            decoded = output.decode()
        except UnicodeDecodeError as error:
            self.append(f"{where}: {error}: {output[:200]!r}")
            return ""
        unseen = {hex(ord(letter)) for letter in decoded if letter not in "\n\t" and is_unseen(letter)}
        self.check(not unseen, f"{where}: unseen {unseen} in {decoded[:300]!r}")
        self.check(several or decoded.count("\n") == 1, f"{where}: not one line: {decoded[:300]!r}")
        return decoded

    def done(self):
        print("\n".join(self))
        sys.exit(1 if self else 0)


class Program:
    """Runs the program and checks its output to a terminal by the rules above."""

    MOST = 1500  # bytes of a message, which quotes 80 characters of each thing that it names

    def __init__(self, path, folder, problems):
        self.path, self.folder, self.problems = path, folder, problems

    def run(self, *arguments, codes=(0,)):
        arguments = [each if isinstance(each, bytes) else str(each).encode() for each in arguments]
        ended = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True, check=False, timeout=600)
        where = " ".join(each.decode(errors="backslashreplace")[:60] for each in arguments[:5])
        self.problems.check(ended.returncode in codes, f"{where!r}: exit code {ended.returncode}: {ended.stderr[:300]!r}")
        self.problems.check(b"internal error" not in ended.stderr, f"{where!r}: {ended.stderr[:300]!r}")
        self.problems.plain(f"{where!r}, standard error", ended.stderr, several=ended.returncode != 2)
        self.problems.check(len(ended.stderr) < self.MOST, f"{where!r}: a message of {len(ended.stderr)} bytes: {ended.stderr[:300]!r}")
        return self.problems.plain(f"{where!r}, standard output", ended.stdout)

    def run_csv(self, *arguments):
        """Rows of the same length, none of whose cells begins a formula."""
        text = self.run(*arguments, "--format", "csv")
        self.check_csv(" ".join(map(str, arguments))[:200], text)

    def check_csv(self, where, text):
        rows = list(csv.reader(io.StringIO(text)))
        self.problems.check(rows and all(len(row) == len(rows[0]) for row in rows), f"{where}: no rows, or of several lengths")
        for cell in itertools.chain.from_iterable(rows):
            begins = re.match(r"\s*[=+\-@]", cell) and len(cell.strip()) > 1
            formula = begins and not re.fullmatch(r"[+-]?[0-9.]+(e[+-]?\d+)?", cell)
            self.problems.check(not formula, f"{where}: a cell begins a formula: {cell!r}")

    def run_json(self, *arguments):
        text = self.run(*arguments, "--format", "json")
        try:
            json.loads(text, parse_constant=lambda name: self.problems.append(f"{arguments[0]}: {name} in JSON"))
        except json.JSONDecodeError as error:
            self.problems.append(f"{' '.join(map(str, arguments))[:200]}: no JSON: {error}")


def with_every_text(value, take, keep=(), known=None):
    """Returns a JSON value with each text replaced by take(), equal texts by the same text. Values of enums stay, and so do values
    under a name of `keep`."""
    known = {} if known is None else known
    if isinstance(value, dict):
        return {name: each if name in keep else with_every_text(each, take, keep, known) for name, each in value.items()}
    if isinstance(value, list):
        return [with_every_text(each, take, keep, known) for each in value]
    if not isinstance(value, str) or re.fullmatch("[A-Z][A-Z0-9_]+", value):
        return value
    if value not in known:
        known[value] = take()
    return known[value]
